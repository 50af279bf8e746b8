/** Builds elements without markup strings, so that a strict CSP and Trusted Types have nothing to refuse. */
import { effect } from '../core/signal.ts';

type Value = string | number | boolean | undefined | null;
/** A child: text, node, or a function that is read again when its signals change. */
export type Child = Node | string | number | undefined | null | false | (() => Value) | Child[];
/** Attributes, listeners (`onclick`) and properties; a function as attribute value follows its signals. */
export type Props = Record<string, Value | (() => Value) | ((event: never) => void)>;

function setAttribute(element: Element, name: string, value: Value): void {
  if (value === undefined || value === null || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

/** Properties that attributes don't reach once a control was used. */
const LIVE = new Set(['value', 'checked', 'indeterminate']);

function applyProp(element: HTMLElement, name: string, value: Props[string]): void {
  if (name.startsWith('on') && typeof value === 'function') {
    element.addEventListener(name.slice(2), value as EventListener);
    return;
  }
  const write = (plain: Value) => {
    if (LIVE.has(name)) (element as unknown as Record<string, Value>)[name] = plain ?? '';
    else setAttribute(element, name, plain);
  };
  if (typeof value === 'function') effect(() => write((value as () => Value)()));
  else write(value);
}

/** Appends children of any kind. */
export function append(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(parent, ...child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (typeof child === 'function') {
      const text = document.createTextNode('');
      effect(() => {
        text.data = String(child() ?? '');
      });
      parent.appendChild(text);
    } else parent.appendChild(document.createTextNode(String(child)));
  }
}

/** Makes an element: `h('button.shell-button', { onclick }, 'Save')`. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  selector: Tag | `${Tag}.${string}`,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const [tag = 'div', ...classes] = selector.split('.');
  const element = document.createElement(tag) as HTMLElementTagNameMap[Tag];
  if (classes.length > 0) element.className = classes.join(' ');
  if (tag === 'button' && !('type' in props)) element.setAttribute('type', 'button');
  for (const [name, value] of Object.entries(props)) applyProp(element, name, value);
  append(element, ...children);
  return element;
}

/** Listens; the result stops listening. */
export function listen<Name extends keyof Events, Events = HTMLElementEventMap & DocumentEventMap & WindowEventMap>(
  target: EventTarget,
  name: Name & string,
  handler: (event: Events[Name]) => void,
  options?: AddEventListenerOptions,
): () => void {
  target.addEventListener(name, handler as EventListener, options);
  return () => target.removeEventListener(name, handler as EventListener, options);
}

/**
 * Keeps the click that ends a drag from meaning anything. It comes right after the pointer is `lifted`; after a cancelled
 * drag that may take long.
 */
export function swallowClick(lifted: boolean): void {
  const stop = () => {
    for (const end of ends) end();
  };
  const swallow = (event: MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
    stop();
  };
  const later = () => setTimeout(stop, 0);
  const ends = [
    listen(document, 'click', swallow, { capture: true }),
    listen(document, 'pointerdown', stop, { capture: true }),
    ...(lifted ? [] : [listen(document, 'pointerup', later)]),
  ];
  if (lifted) later();
}

const BUTTONS = ['button', 'checkbox', 'radio', 'range', 'color', 'file', 'submit', 'reset', 'image'];

/** Whether an event's target takes typed text, so that shortcuts must leave it alone; it may lie in a frame's document. */
export function isEditable(target: EventTarget | null): boolean {
  const { isContentEditable, localName, type } = (target ?? {}) as Partial<HTMLInputElement>;
  if (localName === 'input') return !BUTTONS.includes(type ?? '');
  return isContentEditable === true || localName === 'textarea' || localName === 'select';
}

const FOCUSABLE =
  'a[href],button:not([disabled]),input:not([disabled]),select:not([disabled]),textarea:not([disabled]),iframe,[contenteditable=""],[contenteditable="true"],[tabindex]:not([tabindex="-1"])';

/** Elements inside that Tab reaches, in order. */
export function focusables(root: Element): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((element) =>
    element.checkVisibility({ visibilityProperty: true }),
  );
}

/** Keeps Tab inside `root`. */
export function trapTab(root: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const all = focusables(root);
  const [first, last] = [all[0], all.at(-1)];
  if (!first || !last) return;
  const active = document.activeElement;
  if (event.shiftKey ? active === first || active === root : active === last) {
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}

/** Whether the person asked for less motion. */
export function reducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Resolves in a task of its own: the browser may draw and listen before long work goes on. */
export function nextTask(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(undefined);
  return promise;
}

/** Runs `work` when the browser has nothing else to do, or after `latest` milliseconds. Returns what takes it back. */
export function whenIdle(work: () => void, latest: number): () => void {
  // Safari has no idle callbacks.
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(work, latest / 2);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: latest });
  return () => cancelIdleCallback(handle);
}

/** An id that is unique on this machine. */
export function newId(prefix: string): string {
  return `${prefix}-${crypto.randomUUID().slice(0, 13)}`;
}

/** Plays an animation unless less motion is wanted; resolves at its end in any case. */
export async function animate(
  element: Element,
  frames: Keyframe[],
  duration: number,
  easing = 'cubic-bezier(.2,.8,.2,1)',
): Promise<void> {
  if (reducedMotion()) return;
  try {
    await element.animate(frames, { duration, easing }).finished;
  } catch {
    // A cancelled animation has nothing more to wait for.
  }
}
