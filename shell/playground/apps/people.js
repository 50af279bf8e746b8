/** A directory whose entries search finds one by one. */
import { make } from './make.js';

const PEOPLE = [
  ['Amara Okafor', 'Purchasing', 'amara.okafor@example.com'],
  ['Björn Müller', 'Warehouse', 'bjoern.mueller@example.com'],
  ['Chiara Conti', 'Sales', 'chiara.conti@example.com'],
  ['Daniel Novák', 'Accounts', 'daniel.novak@example.com'],
  ['Elif Yılmaz', 'Sales', 'elif.yilmaz@example.com'],
  ['Fatima Haddad', 'Production', 'fatima.haddad@example.com'],
  ['Greta Lindqvist', 'Quality', 'greta.lindqvist@example.com'],
  ['Hiro Tanaka', 'Development', 'hiro.tanaka@example.com'],
];

const initials = (name) =>
  name
    .split(' ')
    .map((part) => part[0])
    .join('');

function render(context) {
  const list = make('ul', { className: 'pg-people' });
  const card = make('section', { className: 'pg-card', 'aria-live': 'polite' });
  const show = (name) => {
    const [who, team, mail] = PEOPLE.find((one) => one[0] === name) ?? PEOPLE[0];
    list.replaceChildren(
      ...PEOPLE.map(([other, part]) =>
        make(
          'li',
          {},
          make(
            'button',
            { type: 'button', 'aria-current': String(other === who), onclick: () => show(other) },
            make('i', { 'aria-hidden': 'true' }, initials(other)),
            make('span', {}, other, make('small', {}, part)),
          ),
        ),
      ),
    );
    card.replaceChildren(
      make('i', { 'aria-hidden': 'true' }, initials(who)),
      make('h3', {}, who),
      make('p', {}, team),
      make('a', { href: `mailto:${mail}` }, mail),
    );
    context.setState({ name: who }, who);
  };
  context.onIntent((intent) => intent?.name && show(intent.name));
  show(context.intent?.name);
  return make('div', { className: 'pg-split' }, make('nav', { 'aria-label': 'People' }, list), card);
}

export const people = {
  id: 'people',
  title: 'People',
  icon: 'users.svg',
  accent: '#6a55c9',
  width: 640,
  height: 460,
  singleInstance: true,
  render,
};

export const peopleSearch = {
  id: 'people',
  title: 'People',
  async *search(query, { signal }) {
    for (const [name, team] of PEOPLE) {
      if (signal.aborted) return;
      // Like a server that answers bit by bit.
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (name.toLowerCase().includes(query.toLowerCase()))
        yield { id: name, title: name, subtitle: team, appId: 'people', intent: { name } };
    }
  },
};
