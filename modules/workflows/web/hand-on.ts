/** Dialogs: a turn is handed on, and somebody stands in for the person for some days. */
import {
  asProblem,
  askIn,
  failureBar,
  html,
  icon,
  noticesNear,
  nothing,
  render,
  text,
  timeShort,
  type TemplateResult,
} from '@svc/web';
import { nameOf, type Task } from './api.ts';
import { boundsOf, dayOf } from './days.ts';
import { WorkflowsPerson } from './people.ts';
import { delegate, endDelegation, listDelegations, reassign, type Delegation } from './standing-in.ts';

function personField(dialog: ParentNode): WorkflowsPerson | undefined {
  const found = dialog.querySelector('workflows-person');
  return found instanceof WorkflowsPerson ? found : undefined;
}

/** A field that has to be filled in: what stands in it, or the focus. */
function filled(dialog: ParentNode, name: string): string | undefined {
  const input = dialog.querySelector<HTMLInputElement>(`[name="${name}"]`);
  const value = input?.value.trim() ?? '';
  if (value === '') input?.focus();
  return value === '' ? undefined : value;
}

/** Asks whose turn it is to be, and why; whether it was handed on. */
export async function handOn(near: Element, task: Task): Promise<boolean> {
  const said = document.createElement('div');
  const done = await askIn<true>(near, {
    title: text('hand-on'),
    wide: true,
    body: html`<div class="svc-form">
      <p>${text('hand-on-text', { name: nameOf(task) })}</p>
      <workflows-person .label=${text('hand-on-to')}></workflows-person>
      <div class="svc-field" data-wide>
        <label for="hand-on-reason">${text('hand-on-reason')}</label>
        <input id="hand-on-reason" name="reason" class="svc-input" maxlength="2000" required autocomplete="off" />
      </div>
      ${said}
    </div>`,
    confirm: text('hand-on'),
    answer: async (dialog) => {
      const to = personField(dialog)?.value;
      const reason = filled(dialog, 'reason');
      if (to === undefined || reason === undefined) return undefined;
      try {
        await reassign(task.entityType, task.id, { version: task.version, to, reason });
        return true;
      } catch (error) {
        render(failureBar(asProblem(error)), said);
        return undefined;
      }
    },
  });
  if (done) noticesNear(near)?.say({ text: text('handed-on', { name: nameOf(task) }) });
  return done ?? false;
}

function delegationItem(one: Delegation, end: () => void): TemplateResult {
  return html`<li>
    <span>${text('standing-in-line', { to: one.to.displayName, from: one.from.displayName })}</span>
    ${timeShort(one.begins)} – ${timeShort(one.ends)}${one.reason === null ? nothing : html` · ${one.reason}`}
    <button type="button" class="svc-button" data-look="plain" aria-label=${text('standing-in-end', { to: one.to.displayName })} title=${text('standing-in-end', { to: one.to.displayName })} @click=${end}>${icon('close')}</button>
  </li>`;
}

/** Shows who stands in for whom, and has somebody stand in for the person. */
export async function standIn(near: Element): Promise<void> {
  const said = document.createElement('div');
  const list = document.createElement('div');
  const show = async () => {
    const all = await listDelegations();
    const end = (one: Delegation) =>
      void endDelegation(one.id).then(show, (error: unknown) => render(failureBar(asProblem(error)), said));
    const items = all.map((one) => delegationItem(one, () => end(one)));
    render(
      items.length === 0 ? html`<p class="svc-soft">${text('standing-in-none')}</p>` : html`<ul>${items}</ul>`,
      list,
    );
  };
  try {
    await show();
  } catch (error) {
    noticesNear(near)?.complain(error);
    return;
  }
  const today = dayOf(new Date());
  const made = await askIn<Delegation>(near, {
    title: text('standing-in'),
    wide: true,
    body: html`<div class="svc-form">
      ${list}
      <workflows-person .label=${text('standing-in-to')}></workflows-person>
      <div class="svc-field"><label for="standing-in-from">${text('standing-in-from')}</label>
        <input id="standing-in-from" name="begins" class="svc-input" type="date" min=${today} .value=${today} required /></div>
      <div class="svc-field"><label for="standing-in-until">${text('standing-in-until')}</label>
        <input id="standing-in-until" name="ends" class="svc-input" type="date" min=${today} .value=${today} required /></div>
      <div class="svc-field" data-wide><label for="standing-in-reason">${text('standing-in-reason')}</label>
        <input id="standing-in-reason" name="reason" class="svc-input" maxlength="2000" autocomplete="off" /></div>
      ${said}
    </div>`,
    confirm: text('standing-in-begin'),
    answer: async (dialog) => {
      const to = personField(dialog)?.value;
      const begins = filled(dialog, 'begins');
      const ends = filled(dialog, 'ends');
      if (to === undefined || begins === undefined || ends === undefined) return undefined;
      const reason = dialog.querySelector<HTMLInputElement>('[name="reason"]')?.value.trim() ?? '';
      try {
        return await delegate({
          to,
          // Today it begins now.
          ...(begins === today ? {} : { begins: boundsOf(begins).begins.toISOString() }),
          ends: boundsOf(ends).ends.toISOString(),
          ...(reason === '' ? {} : { reason }),
        });
      } catch (error) {
        render(failureBar(asProblem(error)), said);
        return undefined;
      }
    },
  });
  if (made) noticesNear(near)?.say({ text: text('standing-in-begun', { to: made.to.displayName }) });
}
