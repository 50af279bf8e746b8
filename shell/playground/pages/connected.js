/** A page that talks with the desktop around it. */
import { connectFrame } from '/shell/frame.js';

/** The desktop's origin, when it's another one. */
const around = new URLSearchParams(location.search).get('desktop') ?? location.origin;
const desktop = connectFrame(around, {
  onContext: ({ theme, locale, intent }) => {
    document.querySelector('#context').textContent = `${theme} ${locale} ${JSON.stringify(intent)}`;
  },
  onIntent: (intent) => {
    document.querySelector('#context').textContent = `intent ${JSON.stringify(intent)}`;
  },
});
document.querySelector('#tell').addEventListener('click', () => {
  desktop.setTitle('Order 17');
  desktop.setState({ order: 17 });
  desktop.notify({ title: 'Order 17 was sent', intent: { order: 17 } });
});
