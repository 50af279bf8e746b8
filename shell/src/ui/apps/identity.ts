/**
 * The Users and roles app: users with their roles, roles with their permissions.
 *
 * | State   | Moved by                     | Next                                               |
 * | ------- | ---------------------------- | -------------------------------------------------- |
 * | loading | the store answers            | list                                               |
 * | loading | it fails                     | failed: said, with a retry                         |
 * | list    | a row is chosen, or New      | form; changes not saved are asked about first      |
 * | form    | Save                         | list with the change, rights asked for anew; or the form with the reason |
 * | form    | Delete, confirmed            | list without it                                    |
 */
import { MANAGE_IDENTITY } from '../../access.ts';
import { messageOf } from '../../core/check.ts';
import { sameJson } from '../../core/merge.ts';
import { effect, scope, signal, untracked } from '../../core/signal.ts';
import { formatNumber, locale, t } from '../../i18n.ts';
import type { AppDefinition, IdentityStore, Permission, RenderContext, RoleRecord, UserRecord } from '../../types.ts';
import type { Desk } from '../desk.ts';
import { ask } from '../dialog.ts';
import { h, walkTabs } from '../dom.ts';
import { glyph } from '../glyphs.ts';
import { readRole, readUser, roleFields, userFields } from './identity-forms.ts';
import { rowList, type Row } from './identity-list.ts';

/** The app's id. */
export const IDENTITY_ID = 'shell.identity';

const TABS = ['users', 'roles'] as const;
type Tab = (typeof TABS)[number];
const TITLES = { users: 'identity.users', roles: 'identity.roles' } as const;

interface Lists {
  users: UserRecord[];
  roles: RoleRecord[];
  permissions: Permission[];
}

/** What is open in the form. */
interface Open {
  record: UserRecord | RoleRecord;
  fresh: boolean;
}

/** The definition. */
export function identityApp(desk: Desk, store: IdentityStore): AppDefinition {
  return {
    id: IDENTITY_ID,
    title: t('identity.title'),
    icon: 'users.svg',
    accent: '#4b5fa8',
    width: 900,
    height: 620,
    singleInstance: true,
    requiredPermissions: [MANAGE_IDENTITY],
    render(context) {
      const [, end] = scope(() => new IdentityApp(desk, store, context));
      context.onClose(end);
    },
  };
}

class IdentityApp {
  readonly #desk: Desk;
  readonly #store: IdentityStore;
  readonly #context: RenderContext;
  readonly #lists = signal<Lists | undefined>(undefined);
  readonly #failure = signal('');
  readonly #tab = signal<Tab>('users');
  readonly #query = signal('');
  readonly #open = signal<Open | undefined>(undefined);
  #form: HTMLFormElement | undefined;

  constructor(desk: Desk, store: IdentityStore, context: RenderContext) {
    this.#desk = desk;
    this.#store = store;
    this.#context = context;
    context.onClose(() => this.#mayLeave());
    context.host.append(this.#build());
    effect(() => context.setTitle(t('identity.title')));
    void this.#load();
  }

  async #load(): Promise<void> {
    this.#failure.set('');
    try {
      const store = this.#store;
      const [users, roles, permissions] = await Promise.all([
        store.listUsers(),
        store.listRoles(),
        store.listPermissions(),
      ]);
      const byName = new Intl.Collator(locale(), { numeric: true }).compare;
      this.#lists.set({
        users: [...users].sort((a, b) => byName(a.displayName, b.displayName)),
        roles: [...roles].sort((a, b) => byName(a.title, b.title)),
        permissions,
      });
    } catch (error) {
      reportError(error);
      this.#failure.set(t('identity.notLoaded', { reason: messageOf(error) }));
    }
  }

  /** Those of the page, which may have come since, and those of the server, whose word counts where both know one. */
  #permissions({ permissions }: Lists): Permission[] {
    return [...this.#desk.runtime.permissions.peek().values(), ...permissions];
  }

  #build(): HTMLElement {
    const search: HTMLInputElement = h('input.shell-input', {
      type: 'search',
      'aria-label': () => t('search.title'),
      placeholder: () => t('search.title'),
      autocomplete: 'off',
      oninput: () => this.#query.set(search.value.trim().toLowerCase()),
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== 'ArrowDown') return;
        event.preventDefault();
        list.focus();
      },
    });
    const tabs = h(
      'div.shell-identity-tabs',
      {
        role: 'tablist',
        'aria-label': () => t('identity.title'),
        onkeydown: walkTabs,
      },
      TABS.map((tab) =>
        h(
          'button.shell-tab',
          {
            role: 'tab',
            'data-tab': tab,
            'aria-selected': () => String(this.#tab() === tab),
            tabindex: () => (this.#tab() === tab ? 0 : -1),
            onclick: () => void this.#turn(tab),
          },
          () => `${t(TITLES[tab])}${this.#lists() ? ` (${formatNumber(this.#lists()?.[tab].length ?? 0)})` : ''}`,
        ),
      ),
    );
    const rows = this.#rows();
    const list = rowList({
      id: `${this.#context.windowId}-row`,
      label: () => t(TITLES[this.#tab()]),
      rows,
      selected: () => this.#open()?.record.id,
      select: (id) => void this.#choose(id),
    });
    const add = h('button.shell-button', { onclick: () => void this.#add() }, glyph('plus'), () =>
      t(this.#tab() === 'users' ? 'identity.newUser' : 'identity.newRole'),
    );
    const note = h('p.shell-hint.shell-identity-note', { role: 'status' }, () =>
      !this.#lists() && !this.#failure()
        ? t('window.loading')
        : rows().length === 0 && this.#query()
          ? t('search.nothing', { query: this.#query() })
          : '',
    );
    const failure = h(
      'div.shell-identity-failure',
      { role: 'alert', hidden: () => this.#failure() === '' },
      h('p.shell-error', {}, () => this.#failure()),
      h('button.shell-button', { onclick: () => void this.#load() }, glyph('retry'), () => t('window.retry')),
    );
    return h(
      'div.shell-identity',
      { 'data-detail': () => this.#open() !== undefined },
      h('div.shell-identity-side', {}, tabs, h('div.shell-identity-search', {}, search), failure, note, list, add),
      this.#detail(),
    );
  }

  /** The rows that the search leaves; computed once per change. */
  #rows(): () => readonly Row[] {
    const rows = signal<readonly Row[]>([]);
    effect(() => {
      const lists = this.#lists();
      const query = this.#query();
      const titles = new Map(lists?.roles.map((role) => [role.id, role.title]));
      const all: (Row & { words: string })[] =
        this.#tab() === 'users'
          ? (lists?.users ?? []).map(({ id, displayName, userName, email, roles, disabled }) => ({
              id,
              title: displayName,
              subtitle: [userName, roles.map((role) => titles.get(role) ?? role).join(', ')]
                .filter(Boolean)
                .join(' · '),
              faint: disabled,
              words: `${displayName} ${userName} ${email ?? ''}`,
            }))
          : (lists?.roles ?? []).map(({ id, title, description, permissions }) => ({
              id,
              title,
              subtitle: description || t('identity.count', { count: permissions.length }),
              words: `${title} ${id} ${description ?? ''}`,
            }));
      rows.set(query ? all.filter(({ words }) => words.toLowerCase().includes(query)) : all);
    });
    return rows;
  }

  #detail(): HTMLElement {
    const pane = h('div.shell-identity-detail');
    effect(() => {
      const open = this.#open();
      const [, end] = scope(() => pane.replaceChildren(open ? this.#formOf(open) : this.#nothing()));
      return end;
    });
    return pane;
  }

  #nothing(): HTMLElement {
    this.#form = undefined;
    return h('p.shell-hint.shell-identity-nothing', {}, () => t('identity.nothing'));
  }

  #formOf({ record, fresh }: Open): HTMLElement {
    const lists = this.#lists.peek() ?? { users: [], roles: [], permissions: [] };
    const user = 'userName' in record ? record : undefined;
    const problem = signal('');
    const title = user
      ? user.displayName || t('identity.newUser')
      : (record as RoleRecord).title || t('identity.newRole');
    const form: HTMLFormElement = h(
      'form.shell-form',
      {
        'aria-label': title,
        onsubmit: (event: SubmitEvent) => {
          event.preventDefault();
          void this.#save(problem);
        },
      },
      h(
        'div.shell-identity-head',
        {},
        h(
          'button.shell-icon-button.shell-identity-back',
          { 'aria-label': () => t('identity.back'), onclick: () => void this.#close() },
          glyph('chevronLeft'),
        ),
        h('h3.shell-settings-title', {}, title),
      ),
      user ? userFields(user, lists.roles) : roleFields(record as RoleRecord, this.#permissions(lists), fresh),
      h('p.shell-error', { role: 'alert', hidden: () => problem() === '' }, () => problem()),
      h(
        'div.shell-identity-buttons',
        {},
        !fresh &&
          h(
            'button.shell-button',
            { 'data-danger': true, onclick: () => void this.#delete(problem) },
            glyph('trash'),
            () => t('word.remove'),
          ),
        h('button.shell-button', { type: 'submit', 'data-primary': true }, () => t('word.save')),
      ),
    );
    this.#form = form;
    // In a narrow window the list makes room for the form, and leaves it the focus: the way back is in sight there alone.
    queueMicrotask(() => form.querySelector<HTMLElement>(fresh ? 'input' : '.shell-identity-back')?.focus());
    return form;
  }

  /** What the form says; the record itself when there's no form. */
  #said(): UserRecord | RoleRecord | undefined {
    const record = this.#open.peek()?.record;
    if (!record || !this.#form) return record;
    return 'userName' in record ? readUser(this.#form, record) : readRole(this.#form, record);
  }

  #dirty(): boolean {
    // The order of roles and permissions says nothing.
    const plain = (record: UserRecord | RoleRecord | undefined) =>
      Object.entries(record ?? {}).map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value]);
    const [before, now] = [this.#open.peek()?.record, this.#said()].map((one) => Object.fromEntries(plain(one)));
    return !sameJson(before, now);
  }

  /** Whether what is in the form may be given up. */
  async #mayLeave(): Promise<boolean> {
    // Whose window went with the session has nobody to ask.
    if (!this.#context.host.isConnected || !this.#dirty()) return true;
    return ask(this.#desk.topLayer, {
      title: t('identity.discardTitle'),
      text: t('identity.discardText'),
      confirm: t('identity.discard'),
      danger: true,
    });
  }

  async #show(open: Open | undefined): Promise<void> {
    if (await this.#mayLeave()) this.#open.set(open);
  }

  async #choose(id: string): Promise<void> {
    const lists = this.#lists.peek();
    const record = lists?.[this.#tab.peek()].find((one) => one.id === id);
    if (record && record !== this.#open.peek()?.record) await this.#show({ record, fresh: false });
  }

  async #add(): Promise<void> {
    const record =
      this.#tab.peek() === 'users'
        ? { id: crypto.randomUUID(), userName: '', displayName: '', roles: [] }
        : { id: '', title: '', permissions: [] };
    await this.#show({ record, fresh: true });
  }

  async #turn(tab: Tab): Promise<void> {
    if (tab === this.#tab.peek() || !(await this.#mayLeave())) return;
    this.#open.set(undefined);
    this.#tab.set(tab);
  }

  async #close(): Promise<void> {
    await this.#show(undefined);
    this.#context.host.querySelector<HTMLElement>('.shell-rows')?.focus();
  }

  /** Why a record can't be saved. */
  #fault(said: UserRecord | RoleRecord, fresh: boolean): string | undefined {
    const lists = this.#lists.peek();
    if ('userName' in said) {
      if (!said.displayName || !said.userName) return t('identity.required');
      const name = said.userName.toLowerCase();
      const twin = lists?.users.find((one) => one.id !== said.id && one.userName.toLowerCase() === name);
      return twin && t('identity.taken', { name: twin.userName });
    }
    if (!said.title || !said.id) return t('identity.required');
    return fresh && lists?.roles.some((one) => one.id === said.id) ? t('identity.taken', { name: said.id }) : undefined;
  }

  async #save(problem: { set(text: string): void }): Promise<void> {
    const open = this.#open.peek();
    const said = this.#said();
    if (!open || !said) return;
    const fault = this.#fault(said, open.fresh);
    problem.set(fault ?? '');
    if (fault) return;
    await this.#change(problem, async () => {
      if ('userName' in said) await this.#store.saveUser(said);
      else await this.#store.saveRole(said);
      this.#open.set({ record: said, fresh: false });
      // The button is another one now.
      queueMicrotask(() => this.#form?.querySelector<HTMLElement>('[type=submit]')?.focus());
      this.#desk.announce(t('identity.saved'));
    });
  }

  async #delete(problem: { set(text: string): void }): Promise<void> {
    const record = this.#open.peek()?.record;
    if (!record) return;
    const user = 'userName' in record;
    const holders = this.#lists.peek()?.users.filter((one) => one.roles.includes(record.id)).length ?? 0;
    const name = user ? record.displayName : record.title;
    const sure = await ask(this.#desk.topLayer, {
      title: t('identity.deleteTitle', { name }),
      text: user ? t('identity.deleteUser') : t('identity.deleteRole', { count: holders }),
      confirm: t('word.remove'),
      danger: true,
    });
    if (!sure) return;
    await this.#change(problem, async () => {
      if (user) await this.#store.deleteUser(record.id);
      else await this.#store.deleteRole(record.id);
      this.#open.set(undefined);
    });
    this.#context.host.querySelector<HTMLElement>('.shell-rows')?.focus();
  }

  /** Changes the store, then shows what is there now; whoever changed their own rights lives with them at once. */
  async #change(problem: { set(text: string): void }, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      reportError(error);
      problem.set(t('identity.notSaved', { reason: messageOf(error) }));
      return;
    }
    await this.#load();
    await untracked(() => this.#desk.runtime.refreshAccess()).catch(reportError);
  }
}
