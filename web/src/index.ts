/** `@svc/web`: what pages of modules are made of. They import from here alone, and share one copy of it with the page. */
export { css, html, nothing, render, svg, type PropertyValues, type TemplateResult } from 'lit';
export { live } from 'lit/directives/live.js';
export * from './server.ts';
export { MOST_AT_ONCE, takeManyOn, takeOn, type Moved, type Obstacle } from './client/workflow.ts';
export { applicationName, hasReference } from './client/start.ts';
export { apply, knownModel } from './client/sets.ts';
export { keepState } from './host/address.ts';
export { openApp } from './host/open.ts';
export { SvcReference, type Pick } from './parts/reference.ts';
export { readMetrics, sumOf, type Sample } from './core/metrics.ts';
export { readNumber } from './core/input.ts';
export { mean, type Meaning } from './core/meaning.ts';
export { waysBack, type Entry as HistoryEntry, type RestoreMode } from './core/history.ts';
export { keptSets, type Preview } from './client/history.ts';
export type { EntitySet } from './core/model.ts';
export { Problem, type FieldProblem } from './core/problem.ts';
export type { Row } from './core/pages.ts';
export { bars, chart, type Bar, type Share } from './parts/chart.ts';
export { chooseDensity, DENSITIES, density, type Density } from './parts/density.ts';
export { CursorRows } from './parts/cursor-rows.ts';
export { askIn, confirmIn, type Question } from './parts/dialog.ts';
export { icon, type IconName } from './parts/icons.ts';
export { mayLeave } from './parts/leaving.ts';
export { define, freshId, keepFocus, leadFocus, Part } from './parts/part.ts';
export { menuButton, SvcPopover, type Entry } from './parts/popover.ts';
export { capitalised, failure, failureBar, sentence, state } from './parts/states.ts';
export { showSecret } from './parts/secret.ts';
export { tabs, type Tab } from './parts/tabs.ts';
export { SvcTable } from './parts/table.ts';
export type { Column, RowPress, Rows } from './parts/table-parts.ts';
export { amountOf, badge, dueTime, isOver, stateBadge, timeAgo, timeShort, type Tone } from './parts/value.ts';
export { watch } from './parts/watch.ts';
export {
  changedValues,
  changesOf,
  fieldName,
  howOf,
  ReferenceNames,
  sentenceOf,
  whoOf,
} from './sets/history-values.ts';
export { restoreWith, whyStays } from './sets/history-restore.ts';
export { readFacts } from './sets/facts.ts';
export { noticesNear, SvcNotices } from './sets/notices.ts';
export { whatCame, whyNot, withComment } from './sets/transition.ts';
export {
  currentLanguage,
  date,
  dateTime,
  decimalSign,
  exactTime,
  month,
  find,
  hour,
  number,
  percent,
  relative,
  relativeSeconds,
  setName,
  singular,
  text,
} from './text.ts';
export type { RenderContext } from '@svc/shell';
