/** Tabs after the ARIA pattern: one stop of the Tab key, arrows walk. */
import { html, type TemplateResult } from 'lit';

/** A tab. */
export interface Tab {
  readonly id: string;
  readonly title: string;
}

function walk(event: KeyboardEvent, tabs: readonly Tab[], current: string, choose: (id: string) => void): void {
  const at = tabs.findIndex(({ id }) => id === current);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const tab = tabs.at(to % tabs.length);
  if (!tab) return;
  choose(tab.id);
  (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`[data-tab="${tab.id}"]`)?.focus();
}

/** The row of tabs; `prefix` begins the ids of tabs and of the panel. */
export function tabs(
  list: readonly Tab[],
  current: string,
  choose: (id: string) => void,
  prefix: string,
  label: string,
): TemplateResult {
  return html`<div class="svc-tabs" role="tablist" aria-label=${label} @keydown=${(event: KeyboardEvent) => walk(event, list, current, choose)}>
    ${list.map(
      ({ id, title }) =>
        html`<button
          type="button"
          role="tab"
          id="${prefix}-tab-${id}"
          data-tab=${id}
          aria-selected=${id === current}
          aria-controls="${prefix}-panel"
          tabindex=${id === current ? 0 : -1}
          @click=${() => choose(id)}
        >${title}</button>`,
    )}
  </div>`;
}
