/** The playground: small real apps that show, and test, what a window can hold. */
import { Shell } from '/shell/shell.js';
import { calculator } from './apps/calculator.js';
import { calendar } from './apps/calendar.js';
import { clock } from './apps/clock.js';
import { contact } from './apps/contact.js';
import { gallery } from './apps/gallery.js';
import { notes, noteSearch } from './apps/notes.js';
import { paint } from './apps/paint.js';
import { people, peopleSearch } from './apps/people.js';
import { sales } from './apps/sales.js';
import { tasks } from './apps/tasks.js';

Shell.configure({
  brand: { title: 'Playground', version: '1.0', description: 'Small apps that show what a window can hold.' },
  docsUrl: '/pages/docs.html',
  initialShortcuts: [
    'notes',
    'clock',
    'gallery',
    'paint',
    'calendar',
    'sales',
    'people',
    'tasks',
    'calculator',
    'weather',
  ],
  // A test may bring options of its own.
  ...(globalThis.playground?.options ?? {}),
});

// Providers and stores can't come as JSON.
globalThis.playground?.setup?.(Shell);

Shell.registerPermissions([{ id: 'Vault.Open', title: 'Open the vault', group: 'Vault' }]);
Shell.registerApps([
  notes,
  clock,
  gallery,
  paint,
  calendar,
  sales,
  people,
  tasks,
  calculator,
  contact,
  {
    id: 'weather',
    title: 'Weather',
    icon: 'cloud.svg',
    accent: '#2f86c9',
    width: 420,
    height: 460,
    entry: './apps/weather.js',
  },
  { id: 'handbook', title: 'Handbook', icon: 'docs.svg', accent: '#7a5c3e', url: '/pages/handbook.html' },
  {
    id: 'connected',
    title: 'Connected page',
    icon: 'globe.svg',
    accent: '#2d7d6f',
    url: '/pages/connected.html',
    singleInstance: true,
    hidden: true,
  },
  {
    id: 'welcome',
    title: 'Welcome',
    icon: 'app.svg',
    accent: '#5b54c7',
    width: 460,
    height: 330,
    singleInstance: true,
    // An HTML string: the app vouches for it.
    render: () =>
      '<div class="pg-page"><h3>Welcome</h3><p>Open apps from the start menu, drag shortcuts around, throw windows at the edges of the screen.</p><ul><li><b>Ctrl+K</b> searches</li><li><b>F9</b> shows everything</li><li><b>Ctrl+←</b> snaps</li></ul></div>',
  },
  {
    id: 'unsteady',
    title: 'Unsteady service',
    icon: 'puzzle.svg',
    accent: '#b4532a',
    width: 460,
    height: 320,
    // Fails the first time and answers the second.
    render: async ({ host }) => {
      unsteadyCalls += 1;
      await new Promise((resolve) => setTimeout(resolve, 300));
      if (unsteadyCalls % 2) throw new Error('the service did not answer');
      host.append(page('Back again', 'The second attempt worked.'));
    },
  },
  {
    id: 'vault',
    title: 'Vault',
    icon: 'shield.svg',
    accent: '#3c4a63',
    requiredPermissions: ['Vault.Open'],
    render: () => page('Vault', 'Only who may open the vault sees this window.'),
  },
]);
Shell.registerSearchProvider(noteSearch);
Shell.registerSearchProvider(peopleSearch);
Shell.setBadge('tasks', 3);

let unsteadyCalls = 0;

function page(title, text) {
  const box = document.createElement('div');
  box.className = 'pg-page';
  const head = document.createElement('h3');
  head.textContent = title;
  const body = document.createElement('p');
  body.textContent = text;
  box.append(head, body);
  return box;
}
