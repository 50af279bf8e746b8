// `oidc-provider`, a certified provider, as the issuer that people of the shop sign in with.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Provider } from "oidc-provider";
import * as client from "openid-client";
import { ask, Browser, issuer } from "./house.mjs";

const there = process.env.SVC_EXTERNAL_ISSUER;
const phone = "http://127.0.0.1:51998/cb";

let server;

before(async () => {
  const describe = (id) => ({
    sub: id,
    name: `Person ${id}`,
    email: `${id}@corp.example`,
    email_verified: true,
    roles: id === "boss" ? ["Administrator"] : [],
  });
  const provider = new Provider(there, {
    clients: [
      {
        client_id: "svc",
        client_secret: "a secret of 32 letters, or more of them",
        redirect_uris: [`${issuer}/account/external/default/callback`],
        post_logout_redirect_uris: [`${issuer}/account/external/default/signed-out`],
        backchannel_logout_uri: `${issuer}/connect/external/default/logout`,
        backchannel_logout_session_required: true,
      },
      {
        client_id: "phone",
        application_type: "native",
        token_endpoint_auth_method: "none",
        redirect_uris: [phone],
      },
    ],
    claims: { profile: ["name", "roles"], email: ["email", "email_verified"] },
    cookies: { keys: ["a key of the test"] },
    // It keeps from addresses of this machine, where the shop is.
    fetch: (url, { dispatcher, ...options }) => fetch(url, options),
    findAccount: (_, id) => ({ accountId: id, claims: () => describe(id) }),
    extraTokenClaims: (_, token) => describe(token.accountId),
    features: {
      backchannelLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: "shop", audience: "shop api", accessTokenFormat: "jwt" }),
      },
    },
  });
  server = provider.listen(Number(new URL(there).port), "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
});

after(() => server.close());

/** Goes to an address that leads to the provider, signs in and consents there, and comes to `stop`. */
async function signIn(browser, url, login, stop) {
  let at = await browser.follow(url, stop);
  for (let step = 0; step < 3 && at.response !== undefined && at.url.startsWith(there); step += 1) {
    assert.equal(at.response.status, 200, at.page);
    at = await browser.submit(at, at.page.includes('name="login"') ? { login, password: "any" } : {}, stop);
  }
  return at;
}

test("a person signs in by the button, and is an administrator by a claim", async () => {
  const browser = new Browser();
  const { page } = await browser.follow(`${issuer}/account/sign-in?return=%2Faccount`);
  const button = /href="(\/account\/external\/default[^"]*)"/.exec(page)[1].replaceAll("&amp;", "&");
  const at = await signIn(browser, issuer + button, "boss");
  assert.equal(at.url, `${issuer}/account`, at.page);
  assert.match(at.page, /Person boss/);
  assert.match(at.page, /boss@corp\.example/);
  // The web client, too: its sign-in finds the session.
  await browser.follow(`${issuer}/bff/login`, `${issuer}/nowhere`);
  const user = await browser.fetch(`${issuer}/bff/user`, {
    headers: { "X-CSRF": "1", "Sec-Fetch-Site": "same-origin" },
  });
  const { identity, permissions } = await user.json();
  assert.equal(identity.displayName, "Person boss");
  assert.ok(permissions.includes("Identity.Manage"));
});

test("who signs out here is signed out there, and comes back", async () => {
  const browser = new Browser();
  const button = `${issuer}/account/external/default?return=%2Faccount`;
  assert.equal((await signIn(browser, button, "leaver")).url, `${issuer}/account`);
  // Nothing is asked of who is signed in there.
  assert.equal((await browser.follow(button)).url, `${issuer}/account`);
  let at = await browser.submit(await browser.follow(`${issuer}/account/sign-out?return=%2Faccount`), {});
  assert.ok(at.url.startsWith(`${there}/session/end`), at.url);
  at = await browser.submit(at, { logout: "yes" });
  assert.match(at.url, /\/account\/sign-in/, at.page);
  at = await browser.follow(button);
  assert.ok(at.url.startsWith(there) && at.page.includes('name="login"'), at.page);
});

test("who signs out there is signed out here", async () => {
  const browser = new Browser();
  const button = `${issuer}/account/external/default?return=%2Faccount`;
  assert.equal((await signIn(browser, button, "wanderer")).url, `${issuer}/account`);
  assert.equal((await browser.follow(`${issuer}/account`)).url, `${issuer}/account`);
  await browser.submit(await browser.follow(`${there}/session/end`), { logout: "yes" });
  const at = await browser.follow(`${issuer}/account`);
  assert.match(at.url, /\/account\/sign-in/, at.page);
});

test("the API takes access tokens that are for it, and no others", async () => {
  const options = { execute: [client.allowInsecureRequests] };
  const configuration = await client.discovery(new URL(there), "phone", undefined, client.None(), options);
  const tokensFor = async (login, more) => {
    const verifier = client.randomPKCECodeVerifier();
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: phone,
      scope: "openid profile email",
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...more,
    });
    const at = await signIn(new Browser(), url.href, login, phone);
    return client.authorizationCodeGrant(configuration, new URL(at.url), { pkceCodeVerifier: verifier }, more);
  };
  const resource = { resource: "https://shop.example/api" };
  for (const [login, status] of [["boss", 200], ["clerk", 403]]) {
    const tokens = await tokensFor(login, resource);
    const me = await ask("/api/v1/me", tokens.access_token);
    assert.equal(me.status, 200, await me.clone().text());
    assert.equal((await me.json()).identity.displayName, `Person ${login}`);
    assert.equal((await ask("/odata/v1/Products", tokens.access_token)).status, status);
    assert.equal((await ask("/api/v1/me", tokens.id_token)).status, 401);
  }
});
