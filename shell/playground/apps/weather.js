/** A remote module: imported when the app is first opened. */
import { make } from './make.js';

const DAYS = [
  ['Today', '☀️', 17],
  ['Tomorrow', '⛅', 15],
  ['In two days', '🌧️', 11],
  ['In three days', '🌤️', 14],
];

export default function render({ setState }) {
  setState({ place: 'Linz' }, 'Weather in Linz');
  return make(
    'div',
    { className: 'pg-column pg-weather' },
    make('h3', {}, 'Linz'),
    make(
      'ul',
      {},
      ...DAYS.map(([day, sky, degrees]) =>
        make(
          'li',
          {},
          make('span', {}, day),
          make('span', { role: 'img', 'aria-label': 'Sky' }, sky),
          make('b', {}, `${degrees} °C`),
        ),
      ),
    ),
  );
}
