/** A small chart in SVG. */
const NS = 'http://www.w3.org/2000/svg';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const VALUES = [42, 48, 51, 47, 58, 66, 61, 64, 72, 79, 83, 91];

function node(name, attributes, text) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text) element.textContent = text;
  return element;
}

function render() {
  const svg = node('svg', {
    viewBox: '0 0 640 380',
    class: 'pg-chart',
    role: 'img',
    'aria-label': 'Sales per month in thousand euros, from 42 in January to 91 in December',
  });
  for (let line = 0; line <= 100; line += 25) {
    const y = 330 - line * 2.8;
    svg.append(
      node('line', { x1: 44, x2: 620, y1: y, y2: y, class: 'pg-axis' }),
      node('text', { x: 34, y: y + 4, 'text-anchor': 'end' }, String(line)),
    );
  }
  for (const [index, value] of VALUES.entries()) {
    const x = 54 + index * 47;
    svg.append(
      node('rect', { x, y: 330 - value * 2.8, width: 30, height: value * 2.8, rx: 5, class: 'pg-bar' }),
      node('text', { x: x + 15, y: 352, 'text-anchor': 'middle' }, MONTHS[index]),
    );
  }
  svg.append(node('text', { x: 44, y: 26, class: 'pg-chart-title' }, 'Sales, thousand €'));
  return svg;
}

export const sales = {
  id: 'sales',
  title: 'Sales',
  icon: 'chart.svg',
  accent: '#3a7d44',
  width: 700,
  height: 470,
  render,
};
