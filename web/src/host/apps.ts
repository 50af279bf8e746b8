/** The apps of the desktop: one for each entity set that the person may see, and those that modules bring. */
import { Shell, type AppDefinition, type RenderFunction } from '@svc/shell';
import { modules } from 'svc:modules';
import { knownModel } from '../client/sets.ts';
import { saidLook } from '../client/start.ts';
import type { EntitySet, Model } from '../core/model.ts';
import { pick } from '../core/names.ts';
import { appIdOf, type Look, type SetHost } from '../sets/context.ts';
import { setName, text } from '../text.ts';
import { registerSearch } from './search.ts';

/** Colours of apps that say none: apart from each other, and dark enough for a white sign. */
const ACCENTS = ['#3b6fe0', '#0f8b8d', '#8a4fd3', '#c2571a', '#2f855a', '#b83280', '#5a67d8', '#946200'];
const ICONS = ['folder.svg', 'form.svg', 'notes.svg', 'box.svg'];
const SIZE = { width: 1120, height: 720 };

/** What modules of the build say, and above it what the application says in its own words. */
function lookOf(set: string): Look {
  return Object.assign({}, ...modules.map(({ sets }) => sets?.[set] ?? {}), saidLook(set)) as Look;
}

/** What all apps of sets are made of. */
const loadSetApp = () => import('../sets/render.ts');

/** Has it come before an app is opened. Whoever can't have it now gets it then, or is told why not. */
export function loadAhead(): void {
  loadSetApp().catch(() => undefined);
}

function setApp(host: SetHost, set: EntitySet): AppDefinition {
  const look = lookOf(set.name);
  return {
    id: appIdOf(set.name),
    title: setName(set.name),
    icon: look.icon ?? ICONS[pick(set.name, ICONS.length)] ?? 'folder.svg',
    accent: look.accent ?? ACCENTS[pick(set.name, ACCENTS.length)] ?? '#3b6fe0',
    group: text('group-data'),
    hidden: look.hidden ?? false,
    requiredPermissions: [...set.read.permissions],
    ...SIZE,
    async render(context) {
      const { renderSet } = await loadSetApp();
      return renderSet(context, host, host.model.get(set.name) ?? set);
    },
  };
}

function moduleApps(): AppDefinition[] {
  return modules.flatMap(({ apps }) =>
    (apps ?? []).map(({ load, loadBadge: _, title, group, requiredPermissions, ...rest }) => ({
      ...SIZE,
      ...rest,
      title: text(title),
      group: text(group === 'system' ? 'group-system' : 'group-data'),
      requiredPermissions: [...(requiredPermissions ?? [])],
      render: (async (context) => (await load()).default(context)) satisfies RenderFunction,
    })),
  );
}

/** Has the apps that say something by a badge keep it, for those whom the apps are for. */
export function keepBadges(permissions: readonly string[]): void {
  for (const { id, requiredPermissions = [], loadBadge } of modules.flatMap(({ apps }) => apps ?? [])) {
    if (!loadBadge || !requiredPermissions.every((permission) => permissions.includes(permission))) continue;
    // An app is what it is without its badge.
    loadBadge().then(
      ({ default: keep }) => keep((value) => Shell.setBadge(id, value)),
      () => undefined,
    );
  }
}

const host: SetHost = {
  get model() {
    return knownModel();
  },
  can: (permission) => Shell.can(permission),
  look: lookOf,
  open: (appId, intent) => void Shell.openApp(appId, intent),
};
const registered = new Set<string>();

/** The apps of sets that have none yet. */
function setApps(model: Model): AppDefinition[] {
  const fresh = [...model.values()].filter(({ name }) => !registered.has(name));
  for (const { name } of fresh) registered.add(name);
  return fresh.map((set) => setApp(host, set));
}

/** Tells the shell of sets that this person didn't see before. */
export function registerSets(model: Model): void {
  Shell.registerApps(setApps(model));
}

/** Tells the shell of all apps; gives back those that a new desktop of this person has, in their order. */
export function registerApps(model: Model, permissions: readonly string[]): string[] {
  const sets = setApps(model);
  const own = moduleApps();
  const ofSystem = text('group-system');
  // What people do comes first, then their data, then what keeps it going.
  const apps = [
    ...own.filter(({ group }) => group !== ofSystem),
    ...sets,
    ...own.filter(({ group }) => group === ofSystem),
  ];
  Shell.registerApps(apps);
  registerSearch(host);
  const isFor = ({ requiredPermissions = [] }: AppDefinition) =>
    requiredPermissions.every((permission) => permissions.includes(permission));
  return apps.filter((app) => !app.hidden && isFor(app)).map(({ id }) => id);
}
