/**
 * The page: who is here, what there is, and a desktop of it.
 *
 * Person, texts and metadata are asked for at once; the desktop stands when they are there. Whoever isn't signed in is sent to
 * sign in; whoever loses the sign-in later finds the windows as they were behind the shell's own sign-in.
 */
import { Shell } from '@svc/shell';
import { icons, messages } from 'svc:modules';
import { html, render } from 'lit';
import { asProblem, onSignedOut, workIn } from '../client/request.ts';
import { loadModel } from '../client/sets.ts';
import { applicationName, loadStart } from '../client/start.ts';
import type { Model } from '../core/model.ts';
import { followDensity } from '../parts/density.ts';
import { guardPage } from '../parts/leaving.ts';
import { sentence, state } from '../parts/states.ts';
import { currentLanguage, setSources, text, useLanguage } from '../text.ts';
// Whichever script is there first: what is asked for ahead is asked for before it is taken.
import './ahead.ts';
import { keepBadges, loadAhead, registerApps } from './apps.ts';
import { showConnection } from './connection.ts';
import { install } from './install.ts';
import { firstLanguage, keepLanguage } from './language.ts';
import { followOrganisation } from './moved.ts';
import { followRights } from './rights.ts';
import { keepListedBadges, listedApps, registerListed } from './server-apps.ts';
import { askHost, begin as tellShell, signIn, whoIsHere } from './session.ts';

/** When the desktop has been painted, and what it can do without may come: what most people open next, badges, the service worker. */
const SETTLED_MS = 200;

/** Titles of apps are told to the shell once; another language begins the page anew, and the windows come back. */
function followLanguage(desktop: HTMLElement): void {
  new MutationObserver(() => {
    const chosen = desktop.lang.split('-')[0] ?? '';
    if (!messages[chosen] || chosen === currentLanguage()) return;
    keepLanguage(chosen);
    location.reload();
  }).observe(desktop, { attributeFilter: ['lang'] });
}

function configure(apps: readonly string[]): void {
  Shell.configure({
    assetBase: icons,
    locale: currentLanguage(),
    initialShortcuts: apps.slice(0, 15),
    brand: { title: document.title, cornerLogo: false },
  });
}

/** What only somebody who is signed in is told; nothing for anybody else, who is sent to sign in. */
async function ifSignedIn<T>(asked: Promise<T>, nothing: T): Promise<T> {
  return asked.catch((error: unknown) => {
    if (asProblem(error).status === 401) return nothing;
    throw error;
  });
}

async function begin(): Promise<void> {
  followDensity();
  setSources(messages);
  const [host, person, model, listed] = await Promise.all([
    askHost(),
    whoIsHere(),
    ifSignedIn<Model>(loadModel(), new Map()),
    listedApps(firstLanguage()),
    ifSignedIn<void>(loadStart(), undefined),
    useLanguage(firstLanguage()),
  ]);
  if (!person) {
    if (host === 'none') welcome(text('sign-in-none'), text('sign-in-none-text'));
    else signIn();
    return;
  }
  workIn(person.organisationId);
  document.title = applicationName();
  const known = registerApps(model, person.permissions);
  const further = await registerListed(listed, icons);
  // What a module brings for people to work with stands before the pages that keep the system going.
  configure([...further, ...known]);
  // A key in front of a host that knows nobody is a key.
  await tellShell(person, typeof host === 'string' ? undefined : host);
  const desktop = document.createElement('shell-desktop');
  document.body.append(desktop);
  followLanguage(desktop);
  showConnection(desktop);
  guardPage();
  followRights(person.permissions);
  followOrganisation(desktop);
  setTimeout(() => {
    loadAhead();
    keepBadges(person.permissions);
    keepListedBadges(further);
    install();
  }, SETTLED_MS);
  // The shell asks once more, and shows its sign-in when it is true.
  onSignedOut(() => void Shell.request('/api/v1/me').catch(() => undefined));
}

/** A page in place of the desktop. */
function welcome(title: string, said: string): void {
  render(
    html`<main class="shell-root svc-welcome">
      ${state(
        'lock',
        title,
        said,
        html`<button type="button" class="svc-button" @click=${() => location.reload()}>${text('try-again')}</button>`,
      )}
    </main>`,
    document.body,
  );
}

begin().catch(async (error: unknown) => {
  reportError(error);
  // What went wrong may have come before the texts.
  await useLanguage(firstLanguage()).catch(() => undefined);
  welcome(text('start-failed'), sentence(asProblem(error)));
});
