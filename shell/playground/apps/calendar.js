/** A month, in the person's language. */
import { make } from './make.js';

function render(context) {
  let month = context.intent?.month ? new Date(`${context.intent.month}-01T12:00:00`) : new Date();
  const show = () => {
    const language = context.host.closest('[lang]')?.lang || 'en';
    const first = new Date(month.getFullYear(), month.getMonth(), 1, 12);
    const title = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric' }).format(first);
    const offset = (first.getDay() + 6) % 7;
    const cells = [];
    for (let index = 0; index < 7; index += 1) {
      const day = new Date(2024, 0, 1 + index);
      cells.push(
        make('span', { className: 'pg-weekday' }, new Intl.DateTimeFormat(language, { weekday: 'short' }).format(day)),
      );
    }
    const today = new Date().toDateString();
    for (let index = 0; index < 42; index += 1) {
      const day = new Date(first.getFullYear(), first.getMonth(), 1 - offset + index);
      const cell = make('span', { className: 'pg-day' }, String(day.getDate()));
      if (day.getMonth() !== first.getMonth()) cell.dataset.other = '';
      if (day.toDateString() === today) cell.dataset.today = '';
      cells.push(cell);
    }
    const step = (by) => () => {
      month = new Date(month.getFullYear(), month.getMonth() + by, 1, 12);
      show();
    };
    context.host.replaceChildren(
      make(
        'div',
        { className: 'pg-column' },
        make(
          'div',
          { className: 'pg-tools' },
          make('h3', {}, title),
          make(
            'button',
            { type: 'button', className: 'pg-button', 'aria-label': 'Previous month', onclick: step(-1) },
            '‹',
          ),
          make('button', { type: 'button', className: 'pg-button', 'aria-label': 'Next month', onclick: step(1) }, '›'),
        ),
        make('div', { className: 'pg-month' }, ...cells),
      ),
    );
    context.setState({ month: `${month.getFullYear()}-${String(month.getMonth() + 1).padStart(2, '0')}` }, title);
  };
  show();
}

export const calendar = {
  id: 'calendar',
  title: 'Calendar',
  icon: 'calendar.svg',
  accent: '#c2413f',
  width: 460,
  height: 440,
  render,
};
