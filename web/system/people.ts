/** People of the organisation, and programs that work in it: invited, given roles and what decides which records they see, disabled, taken out. */
import {
  asProblem,
  askIn,
  badge,
  capitalised,
  confirmIn,
  define,
  html,
  icon,
  menuButton,
  noticesNear,
  nothing,
  openApp,
  send,
  showSecret,
  text,
  timeAgo,
  type Column,
  type RenderContext,
  type Row,
  type TemplateResult,
} from '@svc/web';
import { readClaims, writeClaims, type Claims } from './claims.ts';
import { everyPage } from './listing.ts';
import { column, fact, fill, LogPage, stateColumn } from './log.ts';
import './person-keys.ts';
import './person-sessions.ts';

const ROOT = '/api/v1/identity/users';
const CLAIMS = 'Identity.ManageClaims';
const KEYS = 'Identity.ManageKeys';

interface Person {
  id: string;
  email: string;
  displayName: string;
  /** A program works with it, and nobody signs in as it. */
  isMachine: boolean;
  disabledAt: string | null;
  confirmedAt: string | null;
  roles: { id: string; name: string }[];
  /** What row filters compare with. */
  claims: Claims;
  createdAt: string;
}

interface Invitation {
  invitationLink: string | null;
}

interface Role {
  id: string;
  name: string;
}

const person = (row: Row) => row as unknown as Person;

/** What is written of somebody. */
interface Written {
  displayName: string;
  roles: string[];
  email?: string;
  claims?: Claims;
}

/** The word for how it stands with somebody, and its tone. */
function stateOf({ disabledAt, confirmedAt, isMachine }: Person): Parameters<typeof badge> {
  if (disabledAt) return [text('people-disabled'), 'none'];
  if (isMachine) return [text('people-program'), 'good'];
  return confirmedAt ? [text('people-active'), 'good'] : [text('people-invited'), 'info'];
}

function rolesOf({ roles }: Person): string {
  return roles.map(({ name }) => name).join(', ');
}

/** Each on a line of its own: they may be many. */
function claimsOf({ claims }: Person): TemplateResult {
  return html`${Object.entries(claims).map(([name, values]) => html`<div>${name}: ${values.join(', ') || '–'}</div>`)}`;
}

/** Somebody, or a program, of whom nothing is written yet. */
function nobody(isMachine: boolean) {
  return { displayName: '', email: '', roles: [], claims: {}, isMachine };
}

class PeoplePage extends LogPage {
  protected path(): string {
    return ROOT;
  }

  protected heading(): string {
    return text('people-app');
  }

  protected nameOf(row: Row): string {
    return person(row).displayName || person(row).email;
  }

  protected none(): { title: string; text: string } {
    return { title: text('people-none'), text: text('people-none-text') };
  }

  protected override tools(): TemplateResult {
    return html`<button type="button" class="svc-button" data-look="plain" @click=${() => void openApp('system.roles')}>${icon('key')}<span>${text('roles-app')}</span></button>
      <button type="button" class="svc-button svc-new" data-look="primary" @click=${() => void this.#invite()}>${icon('plus')}<span>${text('people-invite')}</span></button>
      ${menuButton(text('more'), () => [{ label: text('people-program-new'), icon: 'plus', run: () => void this.#program() }])}`;
  }

  protected columns(): Column[] {
    const of = (row: Row) => person(row);
    return [
      column(
        text('people-name'),
        180,
        1.3,
        (row) => this.nameOf(row),
        (row) => this.nameOf(row),
      ),
      column(
        text('people-email'),
        200,
        1.5,
        (row) => of(row).email || '–',
        (row) => of(row).email,
      ),
      stateColumn(
        text('people-state'),
        110,
        0.7,
        (row) => badge(...stateOf(of(row))),
        (row) => stateOf(of(row))[0],
      ),
      column(
        text('people-roles'),
        160,
        1.2,
        (row) => rolesOf(of(row)) || '–',
        (row) => rolesOf(of(row)),
      ),
    ];
  }

  /** Name, address, roles, and what decides which records one sees, in a dialog; `work` sends them. A program has no address. */
  async #ask<T>(
    title: string,
    confirm: string,
    now: Pick<Person, 'displayName' | 'email' | 'roles' | 'claims' | 'isMachine'>,
    work: (values: Written) => Promise<T>,
  ): Promise<T | undefined> {
    const roles = await everyPage<Role>('/api/v1/identity/roles').catch((error: unknown) => {
      noticesNear(this)?.complain(error);
    });
    if (!roles) return undefined;
    const held = new Set(now.roles.map(({ id }) => id));
    const claimsBefore = writeClaims(now.claims);
    const email = html`<div class="svc-field" data-wide><label for="system-person-email">${text('people-email')}</label><input id="system-person-email" name="email" type="email" class="svc-input" maxlength="254" autocomplete="off" .value=${now.email} aria-describedby="system-person-note" /></div>`;
    const claims = html`<div class="svc-field" data-wide><label for="system-person-claims">${text('people-claims')}<span class="svc-soft"> ${text('field-optional')}</span></label>
          <textarea id="system-person-claims" name="claims" class="svc-input" rows="2" spellcheck="false" .value=${claimsBefore} aria-describedby="system-person-claims-note system-person-note"></textarea>
          <p id="system-person-claims-note" class="svc-note">${text('people-claims-text')}</p></div>`;
    return askIn<T>(this, {
      title,
      body: html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="system-person-name">${text('people-name')}</label><input id="system-person-name" name="displayName" class="svc-input" maxlength="200" autocomplete="off" .value=${now.displayName} aria-describedby="system-person-note" /></div>
        ${now.isMachine ? nothing : email}
        <fieldset class="svc-choices"><legend>${text('people-roles')}</legend>
          ${roles.map(({ id, name }) => html`<label><input type="checkbox" class="svc-check" name="role" value=${id} ?checked=${held.has(id)} /><span>${name}</span></label>`)}
        </fieldset>
        ${this.can(CLAIMS) ? claims : nothing}
        <p id="system-person-note" class="svc-note" role="alert" data-wrong></p>
      </div>`,
      confirm,
      answer: async (dialog) => {
        const data = new FormData(dialog.querySelector('form') ?? undefined);
        const written = (name: string) => String(data.get(name) ?? '').trim();
        const say = (said: string, at: string) => {
          dialog.querySelector('#system-person-note')?.replaceChildren(said);
          dialog.querySelector<HTMLElement>(at)?.focus();
        };
        const read = readClaims(written('claims'));
        if ('wrong' in read) {
          say(text('people-claims-wrong', { line: read.wrong }), 'textarea');
          return undefined;
        }
        try {
          return await work({
            displayName: written('displayName'),
            roles: data.getAll('role').map(String),
            ...(now.isMachine ? {} : { email: written('email') }),
            ...(data.has('claims') && written('claims') !== claimsBefore ? read : {}),
          });
        } catch (error) {
          const problem = asProblem(error);
          const said = problem.fields.map(({ message }) => capitalised(message)).join(' ');
          say(said || capitalised(problem.message), 'input');
          return undefined;
        }
      },
    });
  }

  async #invite(): Promise<void> {
    const invited = await this.#ask(text('people-invite'), text('people-invite'), nobody(false), async (values) => {
      const { body } = await send<Invitation & Person>(ROOT, { method: 'POST', body: values });
      return body;
    });
    if (!invited) return;
    await this.act(async () => undefined, text('people-invited-said', { name: invited.displayName }));
    await this.#show(invited, invited.displayName);
  }

  /** An account that a program works with; it has keys in place of a password. */
  async #program(): Promise<void> {
    const made = await this.#ask(
      text('people-program-new'),
      text('people-program-make'),
      nobody(true),
      async (values) => {
        const { body } = await send<Person>(ROOT, { method: 'POST', body: { ...values, isMachine: true } });
        return body;
      },
    );
    if (!made) return;
    await this.act(async () => undefined, text('people-program-made', { name: made.displayName }));
    this.go({ ...this.view, open: made.id });
  }

  /** Where no mail is sent, somebody has to pass the link on. */
  async #show({ invitationLink }: Invitation, name: string): Promise<void> {
    if (!invitationLink) return;
    await showSecret(this, text('people-link'), text('people-link-text', { name }), invitationLink);
  }

  protected actions(row: Row): TemplateResult {
    const one = person(row);
    const button = (label: string, sign: 'edit' | 'send' | 'ban' | 'undo' | 'trash', run: () => void) =>
      html`<button type="button" class="svc-button" @click=${run}>${icon(sign)}<span>${label}</span></button>`;
    const disable = (disabled: boolean, said: string) => () =>
      void this.act(() => send(`${ROOT}/${one.id}`, { method: 'PUT', body: { disabled } }), said);
    return html`${button(text('people-change'), 'edit', () => void this.#change(one))}
      ${one.confirmedAt || one.isMachine ? nothing : button(text('people-again'), 'send', () => void this.#again(one))}
      ${
        one.disabledAt
          ? button(text('people-enable'), 'undo', disable(false, text('people-enabled')))
          : button(text('people-disable'), 'ban', disable(true, text('people-disabled-said')))
      }
      ${button(text('people-remove'), 'trash', () => void this.#remove(one))}`;
  }

  async #change(one: Person): Promise<void> {
    const changed = await this.#ask(
      text('people-change-title', { name: one.displayName }),
      text('save'),
      one,
      async (values) => {
        // The address is the person's own once it is confirmed.
        const { email, ...rest } = values;
        await send(`${ROOT}/${one.id}`, { method: 'PUT', body: email === one.email ? rest : values });
        return values;
      },
    );
    if (changed) await this.act(async () => undefined, text('people-changed', { name: changed.displayName }));
  }

  async #again(one: Person): Promise<void> {
    await this.act(async () => {
      const { body } = await send<Invitation>(`${ROOT}/${one.id}/invitation`, { method: 'POST' });
      await this.#show(body, one.displayName);
    }, text('people-again-said'));
  }

  async #remove(one: Person): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('people-remove-title', { name: one.displayName }),
      body: text('people-remove-text'),
      confirm: text('people-remove'),
      danger: true,
    });
    if (sure)
      await this.act(
        () => send(`${ROOT}/${one.id}`, { method: 'DELETE' }),
        text('people-removed', { name: one.displayName }),
      );
  }

  protected body(row: Row): TemplateResult {
    const one = person(row);
    return html`<dl class="svc-props">
      ${fact(text('people-state'), badge(...stateOf(one)))}
      ${one.isMachine ? nothing : fact(text('people-email'), one.email)}
      ${fact(text('people-roles'), rolesOf(one) || '–')}
      ${Object.keys(one.claims).length > 0 ? fact(text('people-claims'), claimsOf(one)) : nothing}
      ${fact(text('people-since'), timeAgo(one.createdAt))}
      ${one.confirmedAt ? fact(text('people-confirmed'), timeAgo(one.confirmedAt)) : nothing}
      ${one.disabledAt ? fact(text('people-disabled-since'), timeAgo(one.disabledAt)) : nothing}
    </dl>
    ${one.isMachine || !one.confirmedAt ? nothing : html`<system-person-sessions .person=${one.id} .name=${this.nameOf(row)}></system-person-sessions>`}
    <system-person-keys .person=${one.id} .mayMake=${one.isMachine && this.can(KEYS)}></system-person-keys>`;
  }
}
define('system-people', PeoplePage);

export default (context: RenderContext) => fill(context, 'system-people');
