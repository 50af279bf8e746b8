/**
 * The login screen: a modal dialog over the whole desktop, so that nothing behind it can be reached by any means.
 *
 * | Shown as   | While                                                       |
 * | ---------- | ----------------------------------------------------------- |
 * | waiting    | a session is looked for, rights are asked for, or somebody leaves |
 * | card       | nobody is signed in and guests may not; the session expired; a guest asked |
 * | shaking    | an attempt failed                                           |
 * | shrinking  | it succeeded: the card flies into the start button          |
 */
import { messageOf } from '../core/check.ts';
import { effect, signal, untracked } from '../core/signal.ts';
import { locale, t } from '../i18n.ts';
import type { Runtime } from '../runtime.ts';
import type { AuthProvider } from '../types.ts';
import type { Desk } from './desk.ts';
import { animate, focusIsLost, giveFocus, h, reducedMotion, shift, type Child } from './dom.ts';
import { glyph } from './glyphs.ts';

/** How long an unlocked desktop waits for its profile before it is shown. */
const HOLD_MS = 400;

/** The form of one provider: its fields and a button, or a button alone. */
function providerForm(
  desk: Desk,
  provider: AuthProvider,
  all: readonly AuthProvider[],
  busy: { (): boolean; set(value: boolean): void },
): HTMLFormElement {
  const problem = signal('');
  const { auth } = desk.runtime;
  const fields = (provider.fields ?? []).map(({ name, label, type = 'text' }) =>
    h(
      'label.shell-form-row',
      {},
      h('span', {}, label),
      h('input.shell-input', {
        name,
        type,
        required: true,
        autocomplete: type === 'password' ? 'current-password' : /user|mail|name/i.test(name) ? 'username' : 'on',
        autocapitalize: 'none',
        spellcheck: 'false',
        readonly: () => busy(),
      }),
    ),
  );
  const submit = async () => {
    if (busy()) return;
    busy.set(true);
    problem.set('');
    try {
      const values = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
      await auth.login(provider.id, Object.fromEntries(values) as Record<string, string>);
    } catch (error) {
      // Signed in all the same: what failed comes after that, and is told on the desktop.
      if (auth.current) return;
      problem.set(messageOf(error));
      shake(form.closest('.shell-login-card') ?? form);
      (fields.at(-1)?.querySelector('input') ?? form.querySelector('button'))?.focus();
      form.querySelector<HTMLInputElement>('[type=password]')?.select();
    } finally {
      busy.set(false);
    }
  };
  const title = () => (fields.length > 0 ? t('login.signIn') : t('login.with', { title: provider.title }));
  const form: HTMLFormElement = h(
    'form.shell-login-provider',
    {
      'data-provider': provider.id,
      'aria-label': provider.title,
      novalidate: true,
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        void submit();
      },
    },
    all.length > 1 && fields.length > 0 && h('h2.shell-login-name', {}, provider.title),
    fields,
    provider.hint && h('p.shell-hint', {}, provider.hint),
    h('p.shell-error', { role: 'alert', hidden: () => problem() === '' }, () => problem()),
    h(
      'button.shell-button',
      { type: 'submit', 'data-primary': provider === all[0], 'aria-disabled': () => (busy() ? 'true' : undefined) },
      title,
    ),
  );
  return form;
}

/** Says no, as a head does. */
function shake(card: Element): void {
  if (reducedMotion()) return;
  const steps = [0, -9, 8, -6, 4, 0];
  card.animate(
    steps.map((x) => ({ transform: `translateX(${x}px)` })),
    { duration: 360, easing: 'ease-out' },
  );
}

/** The card flies into the start button. */
async function shrink(desk: Desk, card: Element): Promise<void> {
  const target = desk.root.querySelector('.shell-start-button')?.getBoundingClientRect();
  const from = card.getBoundingClientRect();
  const away = target?.width
    ? {
        x: target.x + target.width / 2 - from.x - from.width / 2,
        y: target.y + target.height / 2 - from.y - from.height / 2,
      }
    : { x: 0, y: 0 };
  await animate(
    card,
    [
      { transform: 'none', opacity: 1 },
      { opacity: 1, offset: 0.7 },
      { transform: shift(away, 0.06), opacity: 0 },
    ],
    320,
    'cubic-bezier(.5,0,.3,1)',
  );
}

function brandHead(desk: Desk): Child {
  const { runtime } = desk;
  const logo = h('span.shell-login-logo');
  effect(() => {
    const source = runtime.options().brand?.logo;
    logo.replaceChildren(source ? h('img', { src: runtime.iconUrl(source), alt: '' }) : glyph('start'));
  });
  return [logo, h('h1.shell-login-title', { id: 'shell-login-title' }, () => runtime.options().brand?.title ?? 'Svc')];
}

function cardContent(desk: Desk, busy: { (): boolean; set(value: boolean): void }): Child[] {
  const { auth, options } = desk.runtime;
  const forms = h('div.shell-login-providers');
  effect(() => {
    locale();
    const all = auth.providers();
    untracked(() => forms.replaceChildren(...all.map((one) => providerForm(desk, one, all, busy))));
  });
  const waiting = () => auth.session()?.identity?.displayName ?? desk.runtime.access().identity?.displayName;
  return [
    brandHead(desk),
    h('p.shell-login-again', { role: 'status', hidden: () => !auth.expired() }, () =>
      waiting() ? t('login.expiredNamed', { name: waiting() ?? '' }) : t('login.expired'),
    ),
    h('p.shell-hint', { hidden: () => !options().loginHint }, () => options().loginHint),
    h('p.shell-error', { role: 'alert', hidden: () => auth.problem() === undefined }, () => messageOf(auth.problem())),
    forms,
    h('button.shell-button', { hidden: () => !auth.guests, onclick: () => leaveAsGuest(desk) }, glyph('user'), () =>
      t('login.guest'),
    ),
  ];
}

function leaveAsGuest({ runtime }: Desk): void {
  runtime.auth.asked.set(false);
  if (runtime.auth.expired.peek()) void runtime.auth.logout();
}

/** Shows the login screen whenever the desktop is locked or a guest asks for it. */
export function connectLogin(desk: Desk): void {
  const { auth } = desk.runtime;
  const busy = signal(false);
  const open = signal(false);
  const needed = () => auth.locked() || auth.asked() || auth.leaving();
  effect(() => {
    // Rights are waited for behind the card that somebody has just filled in.
    const wanted = needed() || (open.peek() && auth.entering());
    untracked(() => open.set(wanted));
  });
  effect(() => {
    if (!open()) return undefined;
    const card = h('div.shell-login-card', { part: 'login' }, cardContent(desk, busy));
    const idle = () => !auth.entering() && !auth.leaving() && (auth.expired() || !auth.restoring());
    const dialog: HTMLDialogElement = h(
      'dialog.shell-login',
      {
        'aria-labelledby': 'shell-login-title',
        'data-waiting': () => !idle(),
        'aria-busy': () => String(!idle() || busy()),
        oncancel: (event: Event) => {
          event.preventDefault();
          if (auth.guests) leaveAsGuest(desk);
        },
        // A browser closes a dialog that is cancelled twice.
        onclose: () => dialog.isConnected && open.peek() && dialog.showModal(),
        onkeydown: (event: KeyboardEvent) => event.stopPropagation(),
      },
      h(
        'div.shell-login-wait',
        { role: 'status' },
        h('span.shell-spinner'),
        h('span.shell-sr', {}, () => t('login.wait')),
      ),
      card,
    );
    const before = document.activeElement;
    desk.root.append(dialog);
    desk.root.toggleAttribute('data-locked', true);
    dialog.showModal();
    effect(() => {
      if (idle()) untracked(() => card.querySelector('input')?.focus({ preventScroll: true }));
    });
    return () => void close(desk, dialog, card, before);
  });
  tellOfAccess(desk);
}

/** Waits a moment for the profile, so that nobody sees the defaults turn into what they chose. */
async function close(desk: Desk, dialog: HTMLDialogElement, card: Element, before: Element | null): Promise<void> {
  dialog.setAttribute('data-done', '');
  if (desk.runtime.session.peek() && !desk.settled.peek()) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = effect(() => {
      if (desk.settled()) resolve();
    });
    setTimeout(resolve, HOLD_MS);
    await promise;
    end();
  }
  desk.root.toggleAttribute('data-locked', desk.root.querySelector('.shell-login:not([data-done])') !== null);
  if (desk.runtime.session.peek()) await shrink(desk, card);
  dialog.remove();
  giveFocus(before);
  if (focusIsLost()) desk.windows?.focusNext();
}

/** Whoever is signed in while their rights couldn't be asked for has a desktop, and hears why it is so empty. */
function tellOfAccess(desk: Desk): void {
  let told: (() => void) | undefined;
  effect(() => {
    const missing = desk.runtime.session() && !desk.runtime.resolved() && !desk.runtime.auth.entering();
    untracked(() => {
      told?.();
      told = undefined;
      if (!missing || !desk.toasts) return;
      const retry = () =>
        void desk.runtime
          .refreshAccess()
          .catch(reportError)
          .finally(() => show());
      const show = () => {
        if (!desk.runtime.resolved.peek())
          told = desk.toasts.show(t('access.failed'), 'warning', { title: t('window.retry'), run: retry });
      };
      show();
    });
  });
}

/** The button of the start menu that signs in or out. */
export function sessionButton(runtime: Runtime, close: () => void): HTMLElement {
  const { auth } = runtime;
  const label = () => t(auth.session() ? 'login.signOut' : 'login.signIn');
  const icon = h('span.shell-login-icon');
  effect(() => icon.replaceChildren(glyph(auth.session() ? 'signOut' : 'signIn')));
  return h(
    'button.shell-bar-button',
    {
      'aria-label': label,
      title: label,
      hidden: () => auth.providers().length === 0,
      onclick: () => {
        close();
        if (auth.session.peek()) void auth.logout();
        else auth.asked.set(true);
      },
    },
    icon,
  );
}
