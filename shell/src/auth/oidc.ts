/**
 * Sign-in through an OpenID provider: authorization code flow with PKCE for a public client.
 *
 * `login` keeps state, nonce, verifier and the page's address in sessionStorage and leaves for the provider. Coming back,
 * the address is put right at once, before the desktop reads it, and `restore` exchanges the code. Tokens lie in
 * sessionStorage, so each tab has its own copy; a new tab asks the others for theirs, and a refresh is told to all.
 */
import { isObject } from '../core/check.ts';
import { t, type MessageKey } from '../i18n.ts';
import type { AuthProvider, OidcOptions, OidcTokens, Session } from '../types.ts';
import { claimsOf, faultOf, rolesAt, type Claims } from './claims.ts';

interface Discovery {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  userinfo_endpoint?: string;
  end_session_endpoint?: string;
}

interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  redirectUri: string;
  href: string;
}

interface Kept {
  tokens: OidcTokens;
  claims: Claims;
  expiresAt?: number;
}

/** What tabs tell each other: who has tokens, these are they, somebody has signed out. */
interface Told {
  ask?: true;
  kept?: Kept;
  gone?: unknown;
}

/** How long a new tab waits for another one's tokens. */
const OTHER_TAB_MS = 250;
/** A session that ends sooner is refreshed when it is found again. */
const NEARLY_OVER_MS = 35_000;
const PATIENCE_MS = 15_000;

/** Errors of providers that a person can do something about. */
const WORDS: Partial<Record<string, MessageKey>> = {
  access_denied: 'login.denied',
  temporarily_unavailable: 'login.unavailable',
  server_error: 'login.unavailable',
};

class ProviderError extends Error {
  readonly code: string;

  constructor(answer: Record<string, unknown>, title: string) {
    const code = String(answer.error);
    const detail = answer.error_description ? `${code}: ${answer.error_description}` : code;
    const words = WORDS[code];
    super(words ? t(words, { title }) : t('login.provider', { title, detail }), { cause: detail });
    this.code = code;
  }
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

function random(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function readJson<T>(key: string): T | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}

class Oidc {
  readonly title: string;
  readonly #options: OidcOptions;
  readonly #authority: string;
  readonly #key: string;
  readonly #channel: BroadcastChannel;
  #discovery: Promise<Discovery> | undefined;
  #return: { pending: Pending; answer: URLSearchParams } | undefined;

  constructor(options: OidcOptions) {
    for (const name of ['authority', 'clientId'] as const) {
      if (!options?.[name]) throw new TypeError(`\`createOidcProvider\` needs \`${name}\``);
    }
    this.#options = options;
    this.#authority = options.authority.replace(/\/$/, '');
    this.title = options.title ?? new URL(this.#authority, document.baseURI).host;
    this.#key = `shell.oidc.${options.id ?? 'oidc'}.${options.clientId}`;
    this.#channel = new BroadcastChannel(this.#key);
    this.#channel.onmessage = ({ data }) => this.#hear(data as Told);
    this.#takeReturn();
  }

  /** Tokens that another tab refreshed are this tab's, too; and a new tab's that has none. */
  #hear({ ask, kept, gone }: Told): void {
    const own = readJson<Kept>(this.#key);
    if (own && gone === own.claims.sub) sessionStorage.removeItem(this.#key);
    if (ask && own) this.#channel.postMessage({ kept: own });
    if (kept && own && own.claims.sub === kept.claims.sub) this.#keep(kept);
  }

  #keep(kept: Kept): void {
    sessionStorage.setItem(this.#key, JSON.stringify(kept));
  }

  /** Puts the page's address right after a sign-in, and remembers what the provider answered. */
  #takeReturn(): void {
    const answer = new URLSearchParams(location.search);
    const pending = readJson<Pending>(`${this.#key}.pending`);
    if (!pending || !answer.has('state') || !(answer.has('code') || answer.has('error'))) return;
    // An answer to a question that this tab didn't ask is nobody's.
    if (answer.get('state') !== pending.state) return;
    sessionStorage.removeItem(`${this.#key}.pending`);
    history.replaceState(history.state, '', pending.href);
    this.#return = { pending, answer };
  }

  async #fetch(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    let response: Response;
    try {
      response = await fetch(url, { ...init, credentials: 'omit', signal: AbortSignal.timeout(PATIENCE_MS) });
    } catch (cause) {
      throw new Error(t('login.unreachable', { title: this.title }), { cause });
    }
    const body: unknown = await response.json().catch(() => undefined);
    const answer = isObject(body) ? body : {};
    if (answer.error) throw new ProviderError(answer, this.title);
    if (!response.ok || body === undefined) {
      throw new Error(t('login.provider', { title: this.title, detail: `HTTP ${response.status}` }));
    }
    return answer;
  }

  #discover(): Promise<Discovery> {
    this.#discovery ??= this.#fetch(`${this.#authority}/.well-known/openid-configuration`).then((found) => {
      const { issuer, authorization_endpoint: authorize, token_endpoint: token } = found;
      if (String(issuer).replace(/\/$/, '') !== this.#authority || !authorize || !token) {
        throw new Error(t('login.provider', { title: this.title, detail: `issuer ${issuer}` }));
      }
      return found as unknown as Discovery;
    });
    this.#discovery.catch(() => {
      this.#discovery = undefined;
    });
    return this.#discovery;
  }

  async login(): Promise<undefined> {
    if (!crypto.subtle) throw new Error(t('login.insecure'));
    const { authorization_endpoint: endpoint } = await this.#discover();
    const { clientId, scope = 'openid profile email', extraParams } = this.#options;
    const redirectUri = this.#options.redirectUri ?? location.origin + location.pathname;
    const pending: Pending = { state: random(), nonce: random(), verifier: random(), redirectUri, href: location.href };
    sessionStorage.setItem(`${this.#key}.pending`, JSON.stringify(pending));
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
    const url = new URL(endpoint);
    const parameters = {
      ...extraParams,
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: base64Url(new Uint8Array(digest)),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    location.assign(url);
    // The page goes; until then, nothing has happened. It may come back unchanged from the browser's cache.
    const { promise, resolve } = Promise.withResolvers<undefined>();
    addEventListener('pageshow', ({ persisted }) => persisted && resolve(undefined), { once: true });
    return promise;
  }

  async restore({ refresh }: { refresh: boolean }): Promise<Session | undefined> {
    const back = this.#return;
    this.#return = undefined;
    if (back) return this.#exchange(back.pending, back.answer);
    const kept = readJson<Kept>(this.#key) ?? (refresh ? undefined : await this.#fromOtherTab());
    if (!kept) return undefined;
    const over = kept.expiresAt !== undefined && kept.expiresAt - Date.now() < NEARLY_OVER_MS;
    return refresh || over ? this.#refresh(kept) : this.#session(kept);
  }

  #fromOtherTab(): Promise<Kept | undefined> {
    const { promise, resolve } = Promise.withResolvers<Kept | undefined>();
    const line = new BroadcastChannel(this.#key);
    line.onmessage = ({ data }) => {
      if (data.kept) resolve(data.kept as Kept);
    };
    line.postMessage({ ask: true });
    const late = setTimeout(() => resolve(undefined), OTHER_TAB_MS);
    return promise.then((kept) => {
      clearTimeout(late);
      line.close();
      if (kept) this.#keep(kept);
      return kept;
    });
  }

  #token(body: Record<string, string>, endpoint: string): Promise<Record<string, unknown>> {
    return this.#fetch(endpoint, {
      method: 'POST',
      body: new URLSearchParams({ ...body, client_id: this.#options.clientId }),
    });
  }

  async #exchange(pending: Pending, answer: URLSearchParams): Promise<Session> {
    if (answer.has('error')) throw new ProviderError(Object.fromEntries(answer), this.title);
    const { issuer, token_endpoint: endpoint, userinfo_endpoint: userinfo } = await this.#discover();
    const from = answer.get('iss');
    if (from !== null && from !== issuer) throw this.#fault('iss');
    const code = answer.get('code') ?? '';
    const { verifier, redirectUri, nonce } = pending;
    const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
    const tokens = (await this.#token(grant, endpoint)) as unknown as OidcTokens;
    const claims = this.#checked(tokens, { issuer, nonce });
    // Many providers keep names out of the ID token.
    if (!claims.name && userinfo) {
      const headers = { authorization: `Bearer ${tokens.access_token}` };
      const more = await this.#fetch(userinfo, { headers }).catch((error: unknown) => {
        reportError(error);
        return {} as Claims;
      });
      if (more.sub === claims.sub) Object.assign(claims, more);
    }
    return this.#taken(tokens, claims);
  }

  #fault(claim: string): Error {
    return new Error(
      claim === 'exp' || claim === 'iat'
        ? t('login.clock', { title: this.title })
        : t('login.provider', { title: this.title, detail: `\`${claim}\`` }),
    );
  }

  #checked(tokens: OidcTokens, expected: { issuer: string; nonce?: string; subject?: string }): Claims {
    const claims = claimsOf(tokens.id_token);
    const { clientId } = this.#options;
    const fault = faultOf(claims, { ...expected, clientId, now: Date.now() / 1000 });
    if (fault || !tokens.access_token) throw this.#fault(fault ?? 'access_token');
    return claims;
  }

  /** The provider refuses: nobody is signed in any more. It can't be reached: that is an error. */
  async #refresh({ tokens, claims }: Kept): Promise<Session | undefined> {
    const { refresh_token: token } = tokens;
    const { issuer, token_endpoint: endpoint } = await this.#discover();
    let fresh: OidcTokens | undefined;
    try {
      const grant = { grant_type: 'refresh_token', refresh_token: token ?? '' };
      fresh = token === undefined ? undefined : ((await this.#token(grant, endpoint)) as unknown as OidcTokens);
    } catch (error) {
      if (!(error instanceof ProviderError) || WORDS[error.code] === 'login.unavailable') throw error;
    }
    if (!fresh) {
      sessionStorage.removeItem(this.#key);
      return undefined;
    }
    const subject = String(claims.sub);
    const said = fresh.id_token ? this.#checked(fresh, { issuer, subject }) : {};
    const session = await this.#taken({ ...tokens, ...fresh }, { ...claims, ...said });
    this.#channel.postMessage({ kept: readJson<Kept>(this.#key) });
    return session;
  }

  #taken(tokens: OidcTokens, claims: Claims): Promise<Session> {
    const kept: Kept = { tokens, claims };
    // Counted from now by this machine's own clock, however wrong it is.
    if (tokens.expires_in) kept.expiresAt = Date.now() + tokens.expires_in * 1000;
    this.#keep(kept);
    return this.#session(kept);
  }

  async #session({ tokens, claims, expiresAt }: Kept): Promise<Session> {
    const { roleClaims = [], mapSession } = this.#options;
    const all = { ...claimsOf(tokens.access_token), ...claims };
    const name = all.name ?? all.preferred_username ?? all.email ?? all.sub;
    const session: Session = {
      token: tokens.access_token,
      identity: { id: String(all.sub), displayName: String(name) },
      roles: rolesAt(all, roleClaims),
    };
    if (expiresAt) session.expiresAt = expiresAt;
    return { ...session, ...(await mapSession?.(all, tokens)) };
  }

  /** Forgets the tokens, and goes to the provider to sign out there, too. */
  async logout(): Promise<void> {
    const kept = readJson<Kept>(this.#key);
    sessionStorage.removeItem(this.#key);
    this.#channel.postMessage({ gone: kept?.claims.sub });
    const { end_session_endpoint: endpoint } = await this.#discover();
    if (!endpoint) return;
    const url = new URL(endpoint);
    const back = this.#options.redirectUri ?? location.origin + location.pathname;
    url.searchParams.set('client_id', this.#options.clientId);
    url.searchParams.set('post_logout_redirect_uri', back);
    if (kept?.tokens.id_token) url.searchParams.set('id_token_hint', kept.tokens.id_token);
    location.assign(url);
  }
}

/** A provider for any OpenID Connect issuer that lets browsers ask (CORS) and knows this page as a public client. */
export function createOidcProvider(options: OidcOptions): AuthProvider {
  const oidc = new Oidc(options);
  return {
    id: options.id ?? 'oidc',
    title: oidc.title,
    login: () => oidc.login(),
    restore: (how) => oidc.restore(how),
    logout: () => oidc.logout(),
  };
}
