/** Notes: several windows, state that survives in shortcuts, search. */
import { make } from './make.js';

const KEY = 'playground.notes';
const FIRST = [
  {
    id: 'n1',
    title: 'Ideas for the autumn fair',
    text: 'Ideas for the autumn fair\n\nTwo stands instead of one.\nCoffee for everyone who tries the demo.',
  },
  {
    id: 'n2',
    title: 'Meeting with Berger',
    text: 'Meeting with Berger\n\nDelivery moves to week 43.\nAsk about the new pallets.',
  },
  {
    id: 'n3',
    title: 'Reading list',
    text: 'Reading list\n\nThe Design of Everyday Things\nA Philosophy of Software Design',
  },
];

const load = () => JSON.parse(localStorage.getItem(KEY) ?? 'null') ?? FIRST;
const save = (all) => localStorage.setItem(KEY, JSON.stringify(all));

function render(context) {
  let current = context.intent?.note ?? load()[0]?.id;
  const list = make('ul', { className: 'pg-list' });
  const text = make('textarea', { className: 'pg-note', 'aria-label': 'Text of the note', spellcheck: false });
  const show = () => {
    const all = load();
    const note = all.find((one) => one.id === current) ?? all[0];
    current = note?.id;
    if (text.value !== note?.text) text.value = note?.text ?? '';
    list.replaceChildren(
      ...all.map((one) =>
        make(
          'li',
          {},
          make(
            'button',
            { type: 'button', 'aria-current': String(one.id === current), onclick: () => pick(one.id) },
            one.title || 'New note',
          ),
        ),
      ),
    );
    context.setState({ note: current }, note?.title || 'New note');
  };
  const pick = (id) => {
    current = id;
    show();
  };
  text.addEventListener('input', () => {
    save(
      load().map((one) =>
        one.id === current ? { ...one, text: text.value, title: text.value.split('\n')[0].slice(0, 60) } : one,
      ),
    );
    show();
  });
  const add = make(
    'button',
    {
      type: 'button',
      className: 'pg-button',
      onclick: () => {
        const id = crypto.randomUUID();
        save([{ id, title: '', text: '' }, ...load()]);
        pick(id);
        text.focus();
      },
    },
    'New note',
  );
  context.onIntent((intent) => intent?.note && pick(intent.note));
  show();
  return make('div', { className: 'pg-split' }, make('nav', { 'aria-label': 'Notes' }, add, list), text);
}

export const notes = {
  id: 'notes',
  title: 'Notes',
  icon: 'notes.svg',
  accent: '#b98a12',
  width: 680,
  height: 440,
  render,
  menu: [
    {
      id: 'count',
      title: 'Count the words',
      run: (context) =>
        context.setTitle(
          `${
            load()
              .map((one) => one.text)
              .join(' ')
              .split(/\s+/).length
          } words`,
        ),
    },
  ],
};

export const noteSearch = {
  id: 'notes',
  title: 'Notes',
  search: async (query) =>
    load()
      .filter((one) => one.text.toLowerCase().includes(query.toLowerCase()))
      .map((one) => ({
        id: one.id,
        title: one.title,
        subtitle: one.text.split('\n').slice(1).join(' ').trim(),
        appId: 'notes',
        intent: { note: one.id },
      })),
};
