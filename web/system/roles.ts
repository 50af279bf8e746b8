/** Roles: what those may do who have them. */
import {
  asProblem,
  askIn,
  capitalised,
  confirmIn,
  define,
  find,
  html,
  icon,
  nothing,
  number,
  send,
  text,
  timeAgo,
  type Column,
  type RenderContext,
  type Row,
  type TemplateResult,
} from '@svc/web';
import { column, fact, fill, LogPage } from './log.ts';
import { permissionWords, USUAL } from './names.ts';

const ROOT = '/api/v1/identity/roles';

interface Role {
  id: string;
  name: string;
  description: string;
  isAdministrator: boolean;
  permissions: string[];
  createdAt: string;
}

interface Permission {
  name: string;
  description: string;
}

const role = (row: Row) => row as unknown as Role;

/** First what everybody does, then the rest. */
function byUse(one: string, other: string): number {
  const place = (name: string) => (USUAL.indexOf(name.split('.')[1] ?? '') + USUAL.length + 1) % (USUAL.length + 1);
  return place(one) - place(other) || one.localeCompare(other);
}

/** What a group of permissions is called: that of a set by the set's name. */
function groupName(group: string): string {
  return find(group) ?? find(`permissions-${group}`) ?? group;
}

function groupOf(name: string): string {
  return name.split('.')[0] ?? '';
}

/** What a role is for: the administrators' is the same everywhere, and can't be changed. */
function purposeOf({ isAdministrator, description }: Role): string {
  return isAdministrator ? text('roles-all-text') : description;
}

class RolesPage extends LogPage {
  #permissions: readonly Permission[] = [];

  override connectedCallback(): void {
    super.connectedCallback();
    send<Permission[]>('/api/v1/identity/permissions').then(
      ({ body }) => {
        this.#permissions = body;
        this.requestUpdate();
      },
      // Without them permissions are shown by their names.
      () => undefined,
    );
  }

  protected path(): string {
    return ROOT;
  }

  protected heading(): string {
    return text('roles-app');
  }

  protected nameOf(row: Row): string {
    return role(row).name;
  }

  protected none(): { title: string; text: string } {
    return { title: text('roles-none'), text: text('roles-none-text') };
  }

  protected override tools(): TemplateResult {
    return html`<button type="button" class="svc-button svc-new" data-look="primary" @click=${() => void this.#edit()}>${icon('plus')}<span>${text('roles-new')}</span></button>`;
  }

  #count({ isAdministrator, permissions }: Role): string {
    return isAdministrator ? text('roles-all') : number(permissions.length, 0);
  }

  protected columns(): Column[] {
    return [
      column(
        text('roles-name'),
        180,
        1,
        (row) => role(row).name,
        (row) => role(row).name,
      ),
      column(
        text('roles-for'),
        220,
        2,
        (row) => purposeOf(role(row)) || '–',
        (row) => purposeOf(role(row)),
      ),
      column(
        text('roles-permissions'),
        110,
        0.6,
        (row) => this.#count(role(row)),
        (row) => this.#count(role(row)),
        true,
      ),
    ];
  }

  /** Permissions that belong together. */
  #groups(names: readonly string[]): [string, string[]][] {
    return [...Map.groupBy(names.toSorted(byUse), groupOf)].sort(([one], [other]) =>
      groupName(one).localeCompare(groupName(other)),
    );
  }

  #described(name: string): string {
    const described = this.#permissions.find((one) => one.name === name)?.description;
    return permissionWords(name) ?? (described ? capitalised(described) : name);
  }

  async #edit(one?: Role): Promise<void> {
    const held = new Set(one?.permissions);
    const known = this.#permissions.map(({ name }) => name);
    const saved = await askIn<string>(this, {
      title: one ? text('roles-change-title', { name: one.name }) : text('roles-new'),
      body: html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="system-role-name">${text('roles-name')}</label><input id="system-role-name" name="name" class="svc-input" maxlength="200" autocomplete="off" .value=${one?.name ?? ''} aria-describedby="system-role-note" /></div>
        <div class="svc-field" data-wide><label for="system-role-for">${text('roles-for')}<span class="svc-soft"> ${text('field-optional')}</span></label><input id="system-role-for" name="description" class="svc-input" maxlength="1000" autocomplete="off" .value=${one?.description ?? ''} /></div>
        ${this.#groups(known).map(
          ([group, names]) =>
            html`<fieldset class="svc-choices"><legend>${groupName(group)}</legend>
              ${names.map((name) => html`<label title=${name}><input type="checkbox" class="svc-check" name="permission" value=${name} ?checked=${held.has(name)} /><span>${this.#described(name)}</span></label>`)}
            </fieldset>`,
        )}
        <p id="system-role-note" class="svc-note" role="alert" data-wrong></p>
      </div>`,
      confirm: text('save'),
      wide: true,
      answer: async (dialog) => {
        const data = new FormData(dialog.querySelector('form') ?? undefined);
        const body = {
          name: String(data.get('name') ?? '').trim(),
          description: String(data.get('description') ?? '').trim(),
          permissions: data.getAll('permission').map(String),
        };
        try {
          await send(one ? `${ROOT}/${one.id}` : ROOT, { method: one ? 'PUT' : 'POST', body });
          return body.name;
        } catch (error) {
          const problem = asProblem(error);
          dialog
            .querySelector('#system-role-note')
            ?.replaceChildren(capitalised(problem.fields[0]?.message ?? problem.message));
          dialog.querySelector('input')?.focus();
          return undefined;
        }
      },
    });
    if (saved) await this.act(async () => undefined, text('roles-saved', { name: saved }));
  }

  protected actions(row: Row): TemplateResult | typeof nothing {
    const one = role(row);
    if (one.isAdministrator) return nothing;
    return html`<button type="button" class="svc-button" @click=${() => void this.#edit(one)}>${icon('edit')}<span>${text('roles-change')}</span></button>
      <button type="button" class="svc-button" @click=${() => void this.#delete(one)}>${icon('trash')}<span>${text('delete')}</span></button>`;
  }

  async #delete(one: Role): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('roles-delete-title', { name: one.name }),
      body: text('roles-delete-text'),
      confirm: text('delete'),
      danger: true,
    });
    if (sure)
      await this.act(() => send(`${ROOT}/${one.id}`, { method: 'DELETE' }), text('roles-deleted', { name: one.name }));
  }

  protected body(row: Row): TemplateResult {
    const one = role(row);
    return html`<dl class="svc-props">
        ${one.description && !one.isAdministrator ? fact(text('roles-for'), one.description) : nothing}
        ${fact(text('roles-since'), timeAgo(one.createdAt))}
        ${one.isAdministrator ? fact(text('roles-permissions'), text('roles-all-text')) : nothing}
      </dl>
      ${
        one.isAdministrator
          ? nothing
          : this.#groups(one.permissions).map(
              ([group, names]) =>
                html`<section class="svc-permissions"><h3>${groupName(group)}</h3><ul>${names.map((name) => html`<li title=${name}>${this.#described(name)}</li>`)}</ul></section>`,
            )
      }`;
  }
}
define('system-roles', RolesPage);

export default (context: RenderContext) => fill(context, 'system-roles');
