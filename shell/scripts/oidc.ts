/** An OpenID provider for the scenarios: a real one, in memory, that signs in whoever types a name. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A provider at work. */
export interface Issuer {
  url: string;
  server: Server;
  /** Grants that refresh tokens were exchanged by. */
  refreshes: number;
  /** No refresh token is good any more. */
  revoked: boolean;
}

/** Starts a provider that knows one public client, the page at `redirectUri`; access tokens live for `seconds`. */
export async function startIssuer(redirectUri: string, seconds: number): Promise<Issuer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: Issuer = { url, server, refreshes: 0, revoked: false };
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'desktop',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [redirectUri],
      },
    ],
    clientBasedCORS: () => true,
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['name', 'realm_access'], email: ['email'] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({
        sub,
        name: `${sub} Example`,
        email: `${sub}@example.com`,
        realm_access: { roles: ['keeper'] },
      }),
    }),
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    ttl: { AccessToken: seconds, IdToken: 600, RefreshToken: 600, Session: 600, Grant: 600, Interaction: 600 },
    features: {
      devInteractions: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      revocation: { enabled: true },
    },
    cookies: { keys: ['for scenarios'] },
  });
  provider.use(async (context, next) => {
    if (context.path === '/token' && issuer.revoked) {
      context.status = 400;
      context.set('access-control-allow-origin', context.get('origin'));
      context.body = { error: 'invalid_grant' };
      return;
    }
    await next();
    if (context.oidc?.params?.grant_type === 'refresh_token' && context.status === 200) issuer.refreshes += 1;
  });
  server.on('request', provider.callback());
  return issuer;
}
