/** Pictures: drawn here, so that there's nothing to load. */
import { make } from './make.js';

const SCENES = [
  ['Lagoon', 195, 170],
  ['Ember', 18, 350],
  ['Orchard', 95, 140],
  ['Dusk', 265, 320],
  ['Glacier', 205, 230],
  ['Saffron', 42, 25],
  ['Heather', 295, 260],
  ['Harbour', 215, 185],
];

function draw(canvas, first, second) {
  const context = canvas.getContext('2d');
  const { width, height } = canvas;
  const sky = context.createLinearGradient(0, 0, 0, height);
  sky.addColorStop(0, `hsl(${first} 60% 78%)`);
  sky.addColorStop(1, `hsl(${second} 65% 62%)`);
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);
  context.fillStyle = `hsl(${first} 80% 92%)`;
  context.beginPath();
  context.arc(width * 0.72, height * 0.3, height * 0.1, 0, 7);
  context.fill();
  for (let layer = 0; layer < 4; layer += 1) {
    context.fillStyle = `hsl(${second} 45% ${52 - layer * 11}%)`;
    context.beginPath();
    context.moveTo(0, height);
    for (let x = 0; x <= width; x += 6) {
      context.lineTo(
        x,
        height * (0.5 + layer * 0.12) + Math.sin(x / (38 + layer * 17) + layer * 2 + first) * height * 0.05,
      );
    }
    context.lineTo(width, height);
    context.fill();
  }
}

function render(context) {
  const show = (index) => {
    const [name, first, second] = SCENES[index] ?? SCENES[0];
    const canvas = make('canvas', { width: 960, height: 600, 'aria-label': name, role: 'img' });
    draw(canvas, first, second);
    context.host.replaceChildren(
      make(
        'div',
        { className: 'pg-picture' },
        canvas,
        make('button', { type: 'button', className: 'pg-button', onclick: overview }, 'All pictures'),
      ),
    );
    context.setState({ picture: index }, name);
  };
  const overview = () => {
    const grid = make('div', { className: 'pg-gallery' });
    for (const [index, [name, first, second]] of SCENES.entries()) {
      const canvas = make('canvas', { width: 320, height: 200 });
      draw(canvas, first, second);
      grid.append(make('button', { type: 'button', onclick: () => show(index) }, canvas, make('span', {}, name)));
    }
    context.host.replaceChildren(grid);
    context.setState(undefined, 'Pictures');
  };
  context.onIntent((intent) => typeof intent?.picture === 'number' && show(intent.picture));
  if (typeof context.intent?.picture === 'number') show(context.intent.picture);
  else overview();
}

export const gallery = {
  id: 'gallery',
  title: 'Pictures',
  icon: 'image.svg',
  accent: '#0f8a83',
  width: 760,
  height: 520,
  render,
};
