/**
 * Apps that modules bring with scripts of their own: what the server lists for this person (`registry.web_app` in Rust), with the
 * badges that it counts.
 */
import { Shell, type RemoteApp, type RemoteManifest } from '@svc/shell';
import { APPS } from '../client/addresses.ts';
import { asProblem, send } from '../client/request.ts';
import { text } from '../text.ts';

/** How often badges are counted anew while the page is in sight. */
const LOOK_MS = 60_000;

/** A file's name is one of the desktop's pictures; all else is an address. */
const FILE = /^[\w-]+\.svg$/;

/** Asks for the apps, with titles in a language. The desktop stands without those that can't be had. */
export async function listedApps(language: string): Promise<readonly RemoteApp[]> {
  try {
    const headers = { 'accept-language': language };
    return (await send<RemoteManifest>(APPS, { headers })).body.apps ?? [];
  } catch (error) {
    if (asProblem(error).status !== 401) reportError(error);
    return [];
  }
}

/** Puts them on the desktop; gives back the ids of those that could be. */
export async function registerListed(apps: readonly RemoteApp[], iconBase: string): Promise<string[]> {
  if (apps.length === 0) return [];
  const placed = apps.map((app) => ({
    ...app,
    icon: FILE.test(app.icon) ? iconBase + app.icon : app.icon,
    group: app.group ?? text('group-data'),
  }));
  return (await Shell.loadRemote({ apps: placed })).apps;
}

/** Keeps their badges, for as long as somebody sees the page. */
export function keepListedBadges(ids: readonly string[]): void {
  if (ids.length === 0) return;
  const look = async () => {
    if (document.hidden) return;
    // An app is what it is without its badge.
    const counted = await send<Record<string, number>>(`${APPS}/badges`).catch(() => undefined);
    if (counted) for (const id of ids) Shell.setBadge(id, counted.body[id] ?? 0);
  };
  void look();
  setInterval(() => void look(), LOOK_MS);
  document.addEventListener('visibilitychange', () => void look());
}
