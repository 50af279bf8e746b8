/** Bars over time, drawn by the browser, with the same figures as a table behind them. */
import { html, svg, type TemplateResult } from 'lit';
import { number, text } from '../text.ts';

/** A bar of one or more parts, from below. */
export interface Bar {
  readonly label: string;
  readonly parts: readonly number[];
}

const WIDTH = 720;
const HEIGHT = 140;
const GAP = 0.22;

/** The next round number above, so that the scale reads well. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/** Bars; `names` says what the parts are, `tones` how they look, and `shown` how a figure is written. */
export function chart(
  title: string,
  bars: readonly Bar[],
  names: readonly string[],
  tones: readonly string[],
  shown: (value: number, scale?: number) => string = number,
): TemplateResult {
  const sum = (bar: Bar) => bar.parts.reduce((total, part) => total + part, 0);
  const top = roundUp(Math.max(0, ...bars.map(sum)));
  const step = WIDTH / Math.max(bars.length, 1);
  const drawn = bars.map((bar, place) => {
    let base = HEIGHT;
    return bar.parts.map((part, index) => {
      const height = (part / top) * HEIGHT;
      base -= height;
      return svg`<rect class="svc-chart-bar" data-tone=${tones[index] ?? 'info'} x=${(place + GAP / 2) * step} y=${base} width=${step * (1 - GAP)} height=${height} rx="1.5"><title>${bar.label}: ${shown(part, 0)} ${names[index] ?? ''}</title></rect>`;
    });
  });
  return html`<figure class="svc-chart">
    <figcaption><span>${title}</span><span class="svc-chart-legend">${names.map((name, index) => html`<span data-tone=${tones[index] ?? 'info'}>${name}</span>`)}</span></figcaption>
    <div class="svc-chart-plot">
      <span class="svc-chart-top svc-soft">${shown(top, top < 5 && top % 1 !== 0 ? 1 : 0)}</span>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${drawn}</svg>
    </div>
    <div class="svc-chart-axis svc-soft" aria-hidden="true"><span>${bars[0]?.label}</span><span>${bars.at(-1)?.label}</span></div>
    <details>
      <summary>${text('chart-table')}</summary>
      <table class="svc-small">
        <thead><tr><th scope="col">${text('chart-when')}</th>${names.map((name) => html`<th scope="col" data-numeric>${name}</th>`)}</tr></thead>
        <tbody>${bars.map((bar) => html`<tr><th scope="row">${bar.label}</th>${bar.parts.map((part) => html`<td data-numeric>${shown(part, 0)}</td>`)}</tr>`)}</tbody>
      </table>
    </details>
  </figure>`;
}

/** One of several things that are compared. */
export interface Share {
  readonly label: string;
  readonly value: number;
  /** How the value is written. */
  readonly shown: string;
  open?(): void;
}

/** Things compared by bars beside their names: a table by itself. */
export function bars(title: string, names: readonly [string, string], shares: readonly Share[]): TemplateResult {
  const top = Math.max(1, ...shares.map(({ value }) => value));
  return html`<figure class="svc-chart">
    <figcaption>${title}</figcaption>
    <table class="svc-bars">
      <thead class="shell-sr"><tr><th scope="col">${names[0]}</th><td></td><th scope="col">${names[1]}</th></tr></thead>
      <tbody>
        ${shares.map(
          (share) => html`<tr>
            <th scope="row">${share.open ? html`<button type="button" class="svc-button" data-look="link" @click=${() => share.open?.()}>${share.label}</button>` : share.label}</th>
            <td><span class="svc-bar-line" .style=${`width: ${(share.value / top) * 100}%`}></span></td>
            <td data-numeric>${share.shown}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </figure>`;
}
