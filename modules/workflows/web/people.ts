/** Somebody of the organisation, found by a part of the name: a field and those that it finds. */
import { define, failureBar, html, nothing, Part, asProblem, text, type Problem, type TemplateResult } from '@svc/web';
import { findPeople, type Person } from './standing-in.ts';

/** So long nothing is typed before people are looked for. */
const LOOK_MS = 250;

export class WorkflowsPerson extends Part {
  static override properties = {
    label: { attribute: false },
    found: { state: true },
    problem: { state: true },
  };
  declare label: string;
  declare found: readonly Person[];
  declare problem: Problem | undefined;
  #looking: ReturnType<typeof setTimeout> | undefined;
  #looked = 0;

  constructor() {
    super();
    this.label = '';
    this.found = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // Its fields are fields of the form around it.
    this.style.display = 'contents';
    this.atEnd(() => clearTimeout(this.#looking));
    void this.#look('');
  }

  /** Who is chosen. */
  get value(): string | undefined {
    return this.querySelector('select')?.value || undefined;
  }

  #soon(named: string): void {
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => void this.#look(named), LOOK_MS);
  }

  async #look(named: string): Promise<void> {
    this.#looked += 1;
    const mine = this.#looked;
    this.problem = undefined;
    try {
      const found = await findPeople(named);
      if (mine === this.#looked) this.found = found;
    } catch (error) {
      if (mine === this.#looked) this.problem = asProblem(error);
    }
  }

  override render(): TemplateResult {
    return html`<div class="svc-field" data-wide>
        <label for="workflows-person-named">${text('standing-in-named')}</label>
        <input id="workflows-person-named" class="svc-input" autocomplete="off" @input=${(event: Event) => this.#soon((event.target as HTMLInputElement).value.trim())} />
      </div>
      <div class="svc-field" data-wide>
        <label for="workflows-person">${this.label}</label>
        <select id="workflows-person" class="svc-input">
          ${this.found.map(({ userId, displayName }) => html`<option value=${userId}>${displayName}</option>`)}
        </select>
        ${this.found.length === 0 ? html`<p class="svc-note" role="status">${text('standing-in-nobody')}</p>` : nothing}
      </div>
      ${this.problem ? failureBar(this.problem) : nothing}`;
  }
}
define('workflows-person', WorkflowsPerson);
