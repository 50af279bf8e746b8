/** Builds elements without markup strings, so that a strict CSP and Trusted Types have nothing to refuse. */
import type { Point, Rect } from '../core/geometry.ts';
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
  const stop = () => end();
  const swallow = (event: MouseEvent) => {
    consume(event);
    stop();
  };
  const later = () => setTimeout(stop, 0);
  const end = together(
    listen(document, 'click', swallow, { capture: true }),
    listen(document, 'pointerdown', stop, { capture: true }),
    ...(lifted ? [] : [listen(document, 'pointerup', later)]),
  );
  if (lifted) later();
}

/** Keeps an event from the browser and from whoever listens farther out. */
export function consume(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** Follows a pointer until it's lifted; `end` learns where, or of nothing when it's cancelled or Escape is pressed. */
export function followPointer(
  move: (event: PointerEvent) => void,
  end: (lifted: PointerEvent | undefined) => void,
): void {
  const finish = (lifted?: PointerEvent) => {
    stop();
    end(lifted);
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    consume(event);
    finish();
  };
  const stop = together(
    listen(document, 'pointermove', move),
    listen(document, 'pointerup', finish),
    listen(document, 'pointercancel', () => finish()),
    listen(document, 'keydown', key, { capture: true }),
  );
}

/** The `transform` that moves to a place. */
export function shift({ x, y }: Point, scale?: number): string {
  return `translate(${x}px,${y}px)${scale === undefined ? '' : ` scale(${scale})`}`;
}

/** Sizes an element. */
export function size({ style }: HTMLElement, { width, height }: { width: number; height: number }): void {
  style.width = `${width}px`;
  style.height = `${height}px`;
}

/** Moves and sizes an element. */
export function put(element: HTMLElement, rect: Rect): void {
  element.style.transform = shift(rect);
  size(element, rect);
}

/** One function that calls all of them. */
export function together(...ends: readonly (() => void)[]): () => void {
  return () => {
    for (const end of ends) end();
  };
}

/** Forward or back, for an arrow key along either axis. */
export function arrowStep({ key }: { key: string }): 1 | -1 | undefined {
  const steps: Partial<Record<string, 1 | -1>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  return steps[key];
}

/** The tabs of the list that a key was pressed in: arrows, Home and End turn to another one. */
export function walkTabs(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>('[role=tab]')];
  const at = tabs.indexOf(document.activeElement as HTMLElement);
  const to = { Home: 0, End: -1 }[event.key] ?? (at + (arrowStep(event) ?? Number.NaN)) % tabs.length;
  if (Number.isNaN(to) || event.ctrlKey) return;
  const tab = tabs.at(to);
  event.preventDefault();
  tab?.focus();
  tab?.click();
}

/** The element nearest to another in the direction of an arrow key; what lies askew counts as farther. */
export function nearestTowards(
  key: string,
  from: Element,
  all: Iterable<HTMLElement>,
  askew = 2,
): HTMLElement | undefined {
  const middle = (element: Element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return [left + width / 2, top + height / 2] as const;
  };
  const horizontal = key === 'ArrowLeft' || key === 'ArrowRight';
  const sign = key === 'ArrowLeft' || key === 'ArrowUp' ? -1 : 1;
  const [x, y] = middle(from);
  let best: HTMLElement | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const element of all) {
    const [toX, toY] = middle(element);
    const [along, aside] = horizontal ? [toX - x, toY - y] : [toY - y, toX - x];
    const distance = along * sign + Math.abs(aside) * askew;
    if (along * sign > 1 && distance < least) [least, best] = [distance, element];
  }
  return best;
}

/** Where a menu was asked for; nowhere when by a key. */
export function pressedAt({ clientX: x, clientY: y }: MouseEvent): Point | undefined {
  return x || y ? { x, y } : undefined;
}

/** Moves the focus to an element that is still in the page; answers whether it was. */
export function giveFocus(to: unknown): boolean {
  // Whoever pressed where nothing takes the focus left it to the body, from where no key leads on.
  const there = to instanceof HTMLElement && to.isConnected && to !== document.body;
  if (there) to.focus({ preventScroll: true });
  return there;
}

/** Whether no element has the focus. */
export function focusIsLost(): boolean {
  return (document.activeElement ?? document.body) === document.body;
}

const BUTTONS = ['button', 'checkbox', 'radio', 'range', 'color', 'file', 'submit', 'reset', 'image'];

/** Whether an event's target takes typed text, so that shortcuts must leave it alone; it may lie in a frame's document. */
export function isEditable(target: EventTarget | null): boolean {
  const { isContentEditable, localName, type } = (target ?? {}) as Partial<HTMLInputElement>;
  if (localName === 'input') return !BUTTONS.includes(type ?? '');
  return isContentEditable === true || localName === 'textarea' || localName === 'select';
}

const FOCUSABLE =
  ':is(a[href],button,input,select,textarea,iframe,[contenteditable=""],[contenteditable=true],[tabindex]):not(:disabled,[tabindex="-1"])';

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

/**
 * Takes out something in which an animation may run. Firefox keeps such an element for ever, with all that it holds, unless the page
 * is up to date; what is measured is.
 */
export function takeOut(element: Element | undefined): void {
  element?.getBoundingClientRect();
  element?.remove();
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
