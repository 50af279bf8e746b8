/** A clock as a custom element, to see that it lives on through every move. */
const NS = 'http://www.w3.org/2000/svg';

class PlaygroundClock extends HTMLElement {
  #timer;
  /** How often the element was put into the document; a window that's never moved keeps it at 1. */
  connections = 0;

  connectedCallback() {
    this.connections += 1;
    this.dataset.connections = String(this.connections);
    const svg = document.createElementNS(NS, 'svg');
    svg.setAttribute('viewBox', '-100 -100 200 200');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', 'Clock');
    for (let hour = 0; hour < 12; hour += 1) svg.append(this.#line(hour * 30, 80, 90, 'mark'));
    const hands = ['hour', 'minute', 'second'].map((name, index) =>
      this.#line(0, index === 0 ? -8 : -12, [46, 70, 78][index], name),
    );
    svg.append(...hands);
    this.replaceChildren(svg);
    const tick = () => {
      const now = new Date();
      const seconds = now.getSeconds();
      const minutes = now.getMinutes() + seconds / 60;
      const angles = [((now.getHours() % 12) + minutes / 60) * 30, minutes * 6, seconds * 6];
      for (const [index, hand] of hands.entries()) hand.setAttribute('transform', `rotate(${angles[index]})`);
    };
    tick();
    this.#timer = setInterval(tick, 1000);
  }

  disconnectedCallback() {
    clearInterval(this.#timer);
  }

  #line(angle, from, to, name) {
    const line = document.createElementNS(NS, 'line');
    line.setAttribute('y1', String(-from));
    line.setAttribute('y2', String(-to));
    line.setAttribute('class', `pg-${name}`);
    line.setAttribute('transform', `rotate(${angle})`);
    return line;
  }
}
customElements.define('playground-clock', PlaygroundClock);

export const clock = {
  id: 'clock',
  title: 'Clock',
  icon: 'clock.svg',
  accent: '#46546b',
  width: 320,
  height: 360,
  render: () => document.createElement('playground-clock'),
};
