/**
 * Fills a window's body from one of the three sources.
 *
 * A body is loading, ready or failed. Loading shows nothing for a moment (a spinner that flashes is worse than none), a
 * failure says what happened and offers to try again. The app's own `host` lies inside the body and stays for the
 * window's life; a retry starts with a fresh one.
 */
import { isObject, messageOf } from '../core/check.ts';
import { checkPartialApp } from '../core/validate.ts';
import { t } from '../i18n.ts';
import type { AppDefinition, RenderContext, RenderFunction, Rendered } from '../types.ts';
import { importModule, retryUrl } from '../remote.ts';
import { h } from './dom.ts';
import { glyph } from './glyphs.ts';
import type { ShellWindow } from './window.ts';

/** What content needs from the desktop. */
export interface ContentHost {
  context(win: ShellWindow, host: HTMLElement): RenderContext;
  openOutside(url: string): void;
  /** What a remote manifest says a module's hash is. */
  hash(url: string): string | undefined;
}

/** Time after which a frame that hasn't loaded is spoken of. */
const SLOW_FRAME_MS = 15_000;

const CROSS_ORIGIN_SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals';

interface HtmlPolicy {
  createHTML(html: string): unknown;
}
let policy: HtmlPolicy | undefined;

/**
 * Puts an app's HTML string into its own body. The app vouches for the string; the shell has no HTML of its own. Pages
 * with `require-trusted-types-for 'script'` allow the policy `svc-shell`, or the app returns nodes.
 */
function writeHtml(host: HTMLElement, html: string): void {
  const factory = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: HtmlPolicy): HtmlPolicy } })
    .trustedTypes;
  if (factory) policy ??= factory.createPolicy('svc-shell', { createHTML: (text) => text });
  host.innerHTML = (policy ? policy.createHTML(html) : html) as string;
}

function fill(host: HTMLElement, rendered: Rendered): void {
  if (rendered instanceof Node) {
    if (rendered !== host) host.replaceChildren(rendered);
  } else if (rendered !== undefined && rendered !== null) writeHtml(host, String(rendered) && (rendered as string));
}

const readers = new WeakMap<ShellWindow, AbortController>();

/**
 * What a window reads isn't needed once the window is closed. What it writes goes on: whoever saves and closes wants both,
 * and so does an `onClose` that saves.
 */
export function untilClosed(win: ShellWindow, init: RequestInit = {}): RequestInit {
  if (win.closed || !/^(get|head)$/i.test(init.method ?? 'get')) return init;
  const reader = readers.get(win) ?? new AbortController();
  if (!readers.has(win)) {
    readers.set(win, reader);
    win.ends.add(() => reader.abort(new DOMException('the window was closed', 'AbortError')));
  }
  return { ...init, signal: init.signal ? AbortSignal.any([init.signal, reader.signal]) : reader.signal };
}

function loading(): HTMLElement {
  return h(
    'div.shell-loading',
    { role: 'status' },
    h('span.shell-spinner'),
    h('span.shell-sr', {}, t('window.loading')),
  );
}

/** What a module brings: how to render, and what its partial definition says of the app. */
async function fromEntry(
  app: AppDefinition,
  attempt: number,
  hash: (url: string) => string | undefined,
): Promise<{ render: RenderFunction; own: Partial<AppDefinition> }> {
  const registered = retryUrl(app.entry ?? '', 0);
  const url = retryUrl(app.entry ?? '', attempt);
  const module = await importModule(url, hash(registered));
  const name = app.exportName ?? 'default';
  const exported = module[name];
  if (typeof exported === 'function') return { render: exported as RenderFunction, own: {} };
  if (isObject(exported)) {
    checkPartialApp(app.id, exported);
    const own = exported as Partial<AppDefinition>;
    if (own.render) return { render: own.render, own };
  }
  throw new Error(`the module \`${url}\` exports no render function as \`${name}\``);
}

/** Loads a window's content. */
export class ContentLoader {
  readonly #host: ContentHost;

  constructor(host: ContentHost) {
    this.#host = host;
  }

  /** Starts loading; a synchronous render is done when this returns. */
  load(win: ShellWindow, attempt = 0): void {
    const { app } = win;
    if (app.url) {
      try {
        this.frame(win, app.url, app.sandbox, app.allow);
      } catch (error) {
        this.#fail(win, error, attempt);
      }
      return;
    }
    const host = h('div.shell-host', { part: 'host' });
    win.body.replaceChildren(host);
    const context = this.#host.context(win, host);
    try {
      const rendered = app.render ? app.render(context) : this.#fromModule(win, context, attempt);
      if (rendered instanceof Object && 'then' in rendered) {
        this.#wait(win, host, rendered as PromiseLike<Rendered>, attempt);
      } else fill(host, rendered);
    } catch (error) {
      this.#fail(win, error, attempt);
    }
  }

  /** A partial definition says how the window looks where the registered one and the shortcut say nothing else. */
  async #fromModule(win: ShellWindow, context: RenderContext, attempt: number): Promise<Rendered> {
    const { app } = win;
    const { render, own } = await fromEntry(app, attempt, (url) => this.#host.hash(url));
    if (own.menu) win.menu = own.menu;
    const looks: { title?: string; icon?: string; accent?: string } = {};
    for (const look of ['title', 'icon', 'accent'] as const) {
      const value = own[look];
      if (value && win[look] === app[look]) looks[look] = value;
    }
    if (!win.closed) context.setAppearance(looks);
    return render(context);
  }

  #wait(win: ShellWindow, host: HTMLElement, pending: PromiseLike<Rendered>, attempt: number): void {
    const spinner = loading();
    win.body.append(spinner);
    win.body.setAttribute('aria-busy', 'true');
    const done = () => {
      spinner.remove();
      win.body.removeAttribute('aria-busy');
    };
    pending.then(
      (rendered) => {
        if (win.closed) return;
        done();
        try {
          fill(host, rendered);
        } catch (error) {
          this.#fail(win, error, attempt);
        }
      },
      (error: unknown) => {
        if (win.closed) return;
        done();
        this.#fail(win, error, attempt);
      },
    );
  }

  #fail(win: ShellWindow, error: unknown, attempt: number): void {
    reportError(new Error(`app \`${win.app.id}\` failed to load`, { cause: error }));
    const retry = h(
      'button.shell-button',
      {
        'data-primary': true,
        onclick: () => {
          win.hooks.close.clear();
          win.hooks.intent.clear();
          this.load(win, attempt + 1);
          win.element.focus({ preventScroll: true });
        },
      },
      glyph('retry'),
      t('window.retry'),
    );
    win.body.replaceChildren(
      h(
        'div.shell-failure',
        { role: 'alert' },
        glyph('alert'),
        h('p.shell-failure-title', {}, t('window.failed', { title: win.title })),
        h('p.shell-failure-text', {}, messageOf(error)),
        retry,
      ),
    );
  }

  /** Shows a page in a frame, with a catcher over it while the window isn't the active one. */
  frame(
    win: ShellWindow,
    address: string,
    sandbox?: string,
    allow?: string,
    into: HTMLElement = win.body,
  ): HTMLIFrameElement {
    const url = new URL(address, document.baseURI);
    if (url.protocol === 'javascript:') throw new TypeError('an address that begins with `javascript:` is not shown');
    const frame = h('iframe.shell-frame', { title: win.title, part: 'frame', allow });
    // A sandbox that allows scripts and the own origin would protect nothing, so pages of the own origin get none.
    const tokens = sandbox ?? (url.origin === location.origin ? undefined : CROSS_ORIGIN_SANDBOX);
    if (tokens !== undefined) frame.setAttribute('sandbox', tokens);
    const spinner = loading();
    const slow = setTimeout(() => {
      spinner.replaceChildren(
        h('p', {}, t('window.slow')),
        h(
          'button.shell-button',
          { onclick: () => this.#host.openOutside(url.href) },
          glyph('external'),
          t('window.openOutside'),
        ),
      );
    }, SLOW_FRAME_MS);
    win.ends.add(() => clearTimeout(slow));
    frame.addEventListener('load', () => {
      clearTimeout(slow);
      spinner.remove();
    });
    frame.src = url.href;
    into.replaceChildren(frame, h('div.shell-catcher'), spinner);
    return frame;
  }
}
