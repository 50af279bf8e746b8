/**
 * A workflow as a picture: states as boxes, transitions as arrows that are laid out by themselves.
 *
 * A press chooses; a drag from one state to another makes a transition, by mouse or finger. With the keyboard the arrows go to the next
 * state in that direction, Enter chooses and N begins a transition that Enter on another state ends. Everything can be
 * done in the forms beside it, too. With marks it is a picture and nothing else: what differs from another version stands out.
 */
import {
  currentLanguage,
  define,
  html,
  nothing,
  Part,
  svg,
  text,
  type PropertyValues,
  type TemplateResult,
} from '@svc/web';
import type { Change } from './api.ts';
import type { Definition, State } from './definition.ts';
import type { Chosen } from './edits.ts';
import { BOX, place, short, type Box, type Drawing } from './layout.ts';
import { titled } from './titles.ts';

const COLOURS = {
  grey: 'var(--shell-text-soft)',
  blue: '#3b82f6',
  green: '#22a06b',
  yellow: '#d99a00',
  red: '#d64545',
} as const;

/** What differs, by kind and name as `markOf` writes them. */
export type Marks = ReadonlyMap<string, Change['kind']>;

/** Names a state or transition among marks. */
export function markOf(kind: Chosen['kind'], name: string): string {
  return `${kind}:${name}`;
}

/** What became of it, told by more than its colour. */
const MARKED = {
  added: { colour: COLOURS.green, sign: '+ ' },
  changed: { colour: COLOURS.yellow, sign: '~ ' },
  removed: { colour: COLOURS.red, sign: '− ' },
} as const;

/** So many characters of what a state is called have room in its box. */
const NAME = 17;

/** Arrows of two pictures in one page have a point each. */
let pictures = 0;

/** From this width on it goes from left to right. */
const WIDE = 720;
/** Chromium doesn't ask a part of a picture for its `touch-action`, and would scroll in place of drawing. */
const STAYS = { handleEvent: (event: Event) => event.preventDefault(), passive: false };
/** So far a finger may wander in a press. */
const STILL = 6;

export class WorkflowGraph extends Part {
  static override properties = {
    set: { attribute: false },
    definition: { attribute: false },
    chosen: { attribute: false },
    wrong: { attribute: false },
    marks: { attribute: false },
    label: { attribute: false },
    begun: { state: true },
    aim: { state: true },
    isWide: { state: true },
  };
  /** The set whose workflow it is. */
  declare set: string;
  declare definition: Definition;
  declare chosen: Chosen | undefined;
  /** The names of what something is wrong with. */
  declare wrong: ReadonlySet<string>;
  /** Makes it a picture that only shows what differs. */
  declare marks: Marks | undefined;
  /** What the picture is called, where it is not the only one. */
  declare label: string | undefined;
  /** The state from which a transition is being drawn. */
  declare begun: string | undefined;
  /** Where the pointer is that draws it. */
  declare aim: { x: number; y: number } | undefined;
  declare isWide: boolean;
  #shown: Definition = { states: [], transitions: [] };
  #language: string | undefined;
  #drawing: Drawing = { width: 0, height: 0, boxes: [], ways: [] };
  #pressed: { name: string; x: number; y: number } | undefined;
  readonly #arrow: string;

  constructor() {
    super();
    pictures += 1;
    this.#arrow = `designer-arrow-${pictures}`;
    this.wrong = new Set();
    this.isWide = true;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const size = new ResizeObserver(() => {
      this.isWide = this.clientWidth >= WIDE;
    });
    size.observe(this);
    this.atEnd(() => size.disconnect());
  }

  override willUpdate(changes: PropertyValues): void {
    const language = currentLanguage();
    if (!changes.has('definition') && !changes.has('isWide') && language === this.#language) return;
    this.#language = language;
    this.#shown = titled(this.set, this.definition);
    this.#drawing = place(this.#shown, this.isWide);
  }

  #choose(chosen: Chosen): void {
    this.tell('choose', chosen);
  }

  #connect(from: string, to: string): void {
    this.begun = undefined;
    this.aim = undefined;
    this.tell('connect', { from, to });
  }

  #at(event: PointerEvent): { x: number; y: number } {
    const picture = this.querySelector('svg') as SVGSVGElement;
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM()?.inverse());
    return { x: point.x, y: point.y };
  }

  #under({ x, y }: { x: number; y: number }): Box | undefined {
    return this.#drawing.boxes.find(
      (box) => Math.abs(box.x - x) <= BOX.width / 2 && Math.abs(box.y - y) <= BOX.height / 2,
    );
  }

  #press(event: PointerEvent, { name }: Box): void {
    if (event.button !== 0) return;
    this.#pressed = { name, x: event.clientX, y: event.clientY };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  }

  #drag(event: PointerEvent): void {
    const pressed = this.#pressed;
    if (!pressed) return;
    const isStill = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < STILL;
    if (isStill && !this.aim) return;
    this.begun = pressed.name;
    this.aim = this.#at(event);
  }

  #release(event: PointerEvent): void {
    const pressed = this.#pressed;
    this.#pressed = undefined;
    if (!pressed) return;
    const to = this.aim ? this.#under(this.#at(event)) : undefined;
    const wasDrawn = this.aim !== undefined;
    this.begun = undefined;
    this.aim = undefined;
    if (!wasDrawn) this.#choose({ kind: 'state', name: pressed.name });
    else if (to) this.#connect(pressed.name, to.name);
  }

  #leave(): void {
    this.#pressed = undefined;
    this.begun = undefined;
    this.aim = undefined;
  }

  /** The nearest state in a direction. */
  #next({ x, y, name }: Box, key: string): Box | undefined {
    const directions: Record<string, readonly [number, number]> = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowDown: [0, 1],
      ArrowUp: [0, -1],
    };
    const [dx, dy] = directions[key] ?? [0, 0];
    const far = (box: Box) => {
      const along = (box.x - x) * dx + (box.y - y) * dy;
      const across = Math.abs((box.x - x) * dy) + Math.abs((box.y - y) * dx);
      return along <= 0 ? Number.POSITIVE_INFINITY : along + across * 2;
    };
    const others = this.#drawing.boxes.filter((box) => box.name !== name && Number.isFinite(far(box)));
    return others.sort((one, other) => far(one) - far(other))[0];
  }

  #keys(event: KeyboardEvent, box: Box): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key.startsWith('Arrow')) {
      event.preventDefault();
      const next = this.#next(box, event.key);
      if (next) this.querySelector<SVGElement>(`[data-state="${CSS.escape(next.name)}"]`)?.focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      if (this.begun === undefined) this.#choose({ kind: 'state', name: box.name });
      else this.#connect(this.begun, box.name);
    } else if (event.key.toLowerCase() === 'n') {
      event.preventDefault();
      this.begun = box.name;
    } else if (event.key === 'Escape' && this.begun !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      this.begun = undefined;
    } else if (event.key === 'Delete') {
      event.preventDefault();
      this.tell('take-out', { kind: 'state', name: box.name });
    }
  }

  #state(name: string): State | undefined {
    return this.#shown.states.find((one) => one.name === name);
  }

  #box(box: Box): TemplateResult {
    const state = this.#state(box.name);
    const isChosen = this.chosen?.kind === 'state' && this.chosen.name === box.name;
    const isFirst = this.#drawing.boxes[0]?.name === box.name;
    const title = state?.title ?? box.name;
    const kind = text(`designer-kind-${state?.kind ?? 'intermediate'}`);
    const at = `translate(${box.x - BOX.width / 2} ${box.y - BOX.height / 2})`;
    if (this.marks) return svg`<g data-state=${box.name} transform=${at}>${this.#shape(box, false)}</g>`;
    return svg`<g
      role="button"
      tabindex=${isChosen || (!this.chosen && isFirst) || this.begun !== undefined ? 0 : -1}
      data-state=${box.name}
      aria-pressed=${isChosen}
      aria-label=${text('designer-state-label', { title, kind })}
      transform=${at}
      .style=${'cursor:pointer;touch-action:none;outline-offset:3px'}
      @pointerdown=${(event: PointerEvent) => this.#press(event, box)}
      @pointermove=${(event: PointerEvent) => this.#drag(event)}
      @pointerup=${(event: PointerEvent) => this.#release(event)}
      @pointercancel=${() => this.#leave()}
      @touchmove=${STAYS}
      @keydown=${(event: KeyboardEvent) => this.#keys(event, box)}
    >${this.#shape(box, isChosen)}</g>`;
  }

  #shape({ name }: Box, isChosen: boolean): TemplateResult {
    const state = this.#state(name);
    const mark = this.#mark('state', name);
    const plain = isChosen || this.begun === name ? COLOURS.blue : COLOURS.grey;
    const line = mark?.colour ?? (this.wrong.has(name) ? COLOURS.red : plain);
    return svg`<rect width=${BOX.width} height=${BOX.height} rx=${state?.kind === 'intermediate' ? 8 : 22} fill="var(--shell-surface-raised)" stroke=${line} stroke-width=${isChosen || mark ? 3 : 1.5}></rect>
      <circle cx="16" cy=${BOX.height / 2} r="5" fill=${COLOURS[state?.colour ?? 'grey']}></circle>
      <text x="28" y=${BOX.height / 2} dominant-baseline="central" font-size="13" fill="var(--shell-text)">${short(`${mark?.sign ?? ''}${state?.title ?? name}`, NAME)}</text>`;
  }

  #mark(kind: Chosen['kind'], name: string): (typeof MARKED)[Change['kind']] | undefined {
    const mark = this.marks?.get(markOf(kind, name));
    return mark && MARKED[mark];
  }

  #way({ name, points, x, y }: Drawing['ways'][number]): TemplateResult {
    const way = this.#shown.transitions.find((one) => one.name === name);
    const isChosen = this.chosen?.kind === 'transition' && this.chosen.name === name;
    const mark = this.#mark('transition', name);
    const line = mark?.colour ?? (this.wrong.has(name) ? COLOURS.red : isChosen ? COLOURS.blue : COLOURS.grey);
    const path = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${point.x} ${point.y}`).join(' ');
    const choose = () => this.#choose({ kind: 'transition', name });
    return svg`<g .style=${this.marks ? '' : 'cursor:pointer'} @click=${this.marks ? nothing : choose}>
      <path d=${path} fill="none" stroke="transparent" stroke-width="16"></path>
      <path d=${path} fill="none" stroke=${line} stroke-width=${isChosen || mark ? 3 : 1.5} stroke-dasharray=${way?.optional ? '5 4' : nothing} marker-end="url(#${this.#arrow})"></path>
      <text x=${x} y=${y} text-anchor="middle" dominant-baseline="central" font-size="12" fill="var(--shell-text)" stroke="var(--shell-surface)" stroke-width="4" paint-order="stroke">${mark?.sign ?? ''}${short(way?.title ?? name)}</text>
    </g>`;
  }

  override render(): TemplateResult {
    const { width, height, boxes, ways } = this.#drawing;
    const from = boxes.find(({ name }) => name === this.begun);
    return html`<div .style=${'overflow:auto'} role=${this.marks ? 'img' : 'group'} tabindex=${this.marks ? 0 : nothing} aria-label=${this.label ?? text('designer-picture')}>
      <svg width=${Math.max(width, 1)} height=${Math.max(height, 1)} viewBox="0 0 ${Math.max(width, 1)} ${Math.max(height, 1)}" .style=${'display:block;margin:auto;font-family:inherit;user-select:none'}>
        <defs><marker id=${this.#arrow} viewBox="0 0 10 10" refX="9" refY="5" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill=${COLOURS.grey}></path></marker></defs>
        ${ways.map((way) => this.#way(way))}
        ${boxes.map((box) => this.#box(box))}
        ${from && this.aim ? svg`<line x1=${from.x} y1=${from.y} x2=${this.aim.x} y2=${this.aim.y} stroke=${COLOURS.blue} stroke-width="2" stroke-dasharray="4 4" pointer-events="none"></line>` : nothing}
      </svg>
    </div>
    ${this.marks ? nothing : this.#help()}`;
  }

  #help(): TemplateResult {
    const { begun } = this;
    return html`<p class="svc-soft" role="status">${begun === undefined ? text('designer-picture-help') : text('designer-connecting', { state: this.#state(begun)?.title ?? begun })}</p>`;
  }
}
define('workflows-graph', WorkflowGraph);
