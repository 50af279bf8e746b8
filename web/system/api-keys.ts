/** What the pages of API keys have in common: how one is made, and asked about before it is revoked. */
import { asProblem, askIn, capitalised, confirmIn, html, send, text } from '@svc/web';

export const API_KEYS = '/api/v1/identity/api-keys';

export interface ApiKey {
  id: string;
  name: string;
  prefix: string;
  permissions: string[] | null;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** What a new key is asked about with. */
export interface NewKey {
  /** What ids in the dialog begin with. */
  readonly prefix: string;
  /** The most letters of its name. */
  readonly longest: number;
  /** Whom it is for, where that is somebody else. */
  readonly userId?: string;
}

/** Makes a key in a dialog; gives it back, or nothing where somebody thought better of it. */
export function makeKey(near: Element, { prefix, longest, userId }: NewKey): Promise<string | undefined> {
  return askIn<string>(near, {
    title: text('keys-new'),
    body: html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="${prefix}-name">${text('keys-name')}</label><input id="${prefix}-name" name="name" class="svc-input" maxlength=${longest} autocomplete="off" aria-describedby="${prefix}-note" /></div>
        <div class="svc-field" data-wide><label for="${prefix}-end">${text('keys-end')}<span class="svc-soft"> ${text('field-optional')}</span></label><input id="${prefix}-end" name="end" class="svc-input" type="date" /></div>
        <p id="${prefix}-note" class="svc-note" role="alert" data-wrong></p>
      </div>`,
    confirm: text('keys-make'),
    answer: async (dialog) => {
      const data = new FormData(dialog.querySelector('form') ?? undefined);
      const end = String(data.get('end') ?? '');
      const body = {
        name: String(data.get('name') ?? '').trim(),
        ...(userId === undefined ? {} : { userId }),
        ...(end ? { expiresAt: new Date(`${end}T00:00`).toISOString() } : {}),
      };
      try {
        return (await send<{ key: string }>(API_KEYS, { method: 'POST', body })).body.key;
      } catch (error) {
        const problem = asProblem(error);
        dialog
          .querySelector(`#${prefix}-note`)
          ?.replaceChildren(capitalised(problem.fields[0]?.message ?? problem.message));
        dialog.querySelector('input')?.focus();
        return undefined;
      }
    },
  });
}

/** Asks whether a key shall be revoked. */
export function confirmRevoking(near: Element, name: string): Promise<boolean> {
  return confirmIn(near, {
    title: text('keys-revoke-title', { name }),
    body: text('keys-revoke-text'),
    confirm: text('keys-revoke'),
    danger: true,
  });
}
