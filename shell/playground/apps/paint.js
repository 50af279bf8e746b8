/** A canvas to draw on, with pointer events of its own. */
import { make } from './make.js';

const INKS = [
  ['Ink', '#1c2230'],
  ['Red', '#cf3f4f'],
  ['Orange', '#e58a2b'],
  ['Green', '#2e8b57'],
  ['Blue', '#2f6fd6'],
];

function render({ host, onClose }) {
  let ink = INKS[0][1];
  const canvas = make('canvas', {
    className: 'pg-canvas',
    width: 1200,
    height: 800,
    'aria-label': 'Drawing area',
    role: 'img',
  });
  const context = canvas.getContext('2d');
  context.lineCap = 'round';
  context.lineJoin = 'round';
  const at = (event) => {
    const rect = canvas.getBoundingClientRect();
    return [
      ((event.clientX - rect.left) / rect.width) * canvas.width,
      ((event.clientY - rect.top) / rect.height) * canvas.height,
    ];
  };
  let last;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    last = at(event);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!last) return;
    const next = at(event);
    context.strokeStyle = ink;
    context.lineWidth = 3 + (event.pressure || 0.5) * 8;
    context.beginPath();
    context.moveTo(...last);
    context.lineTo(...next);
    context.stroke();
    last = next;
  });
  const end = () => {
    last = undefined;
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  const inks = INKS.map(([name, color], index) => {
    const button = make('button', {
      type: 'button',
      className: 'pg-ink',
      title: name,
      'aria-label': name,
      'aria-pressed': String(index === 0),
    });
    button.style.background = color;
    button.addEventListener('click', () => {
      ink = color;
      for (const one of inks) one.setAttribute('aria-pressed', String(one === button));
    });
    return button;
  });
  const clear = make(
    'button',
    { type: 'button', className: 'pg-button', onclick: () => context.clearRect(0, 0, canvas.width, canvas.height) },
    'Clear',
  );
  host.append(
    make(
      'div',
      { className: 'pg-column' },
      make('div', { className: 'pg-tools', role: 'toolbar', 'aria-label': 'Inks' }, ...inks, clear),
      canvas,
    ),
  );
  onClose(end);
}

export const paint = {
  id: 'paint',
  title: 'Paint',
  icon: 'paint.svg',
  accent: '#c0507a',
  width: 720,
  height: 520,
  render,
};
