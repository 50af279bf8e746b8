// `openid-client`, a certified client for Node, signs people in at our provider.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import * as client from "openid-client";
import { ask, Browser, issuer, register } from "./house.mjs";

const redirect_uri = "http://127.0.0.1/cb";
const options = { execute: [client.allowInsecureRequests] };

async function signIn(configuration, changes = {}, browser = new Browser()) {
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const nonce = client.randomNonce();
  const parameters = {
    redirect_uri,
    scope: "openid profile email roles",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
    ...changes,
  };
  const url = client.buildAuthorizationUrl(configuration, parameters);
  const back = await browser.signIn(url.href, redirect_uri);
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  if (changes.max_age !== undefined) checks.maxAge = Number(changes.max_age);
  return { tokens: await client.authorizationCodeGrant(configuration, new URL(back), checks), browser };
}

test("a confidential client signs in, asks, refreshes and signs out", async () => {
  const { id, secret } = await register({
    name: "Portal",
    redirectUris: [redirect_uri],
    signedOutUris: ["http://127.0.0.1/bye"],
  });
  for (const authentication of [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]) {
    const configuration = await client.discovery(new URL(issuer), id, undefined, authentication, options);
    const { tokens, browser } = await signIn(configuration);
    const claims = tokens.claims();
    assert.equal(claims.iss, issuer);
    assert.deepEqual(claims.amr, ["pwd"]);
    const info = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    assert.equal(info.email, "ada@example.com");
    assert.deepEqual(info.roles, ["Administrator"]);
    assert.equal((await ask("/api/v1/me", tokens.access_token)).status, 200);
    const again = await client.refreshTokenGrant(configuration, tokens.refresh_token);
    assert.equal(again.claims().sub, claims.sub);
    assert.equal((await ask("/odata/v1/Products", again.access_token)).status, 200);
    const bye = client.buildEndSessionUrl(configuration, {
      id_token_hint: again.id_token,
      post_logout_redirect_uri: "http://127.0.0.1/bye",
      state: "later",
    });
    const { url } = await browser.follow(bye.href, "http://127.0.0.1/bye");
    assert.equal(url, "http://127.0.0.1/bye?state=later");
    assert.equal((await ask("/api/v1/me", again.access_token)).status, 401);
    await assert.rejects(client.refreshTokenGrant(configuration, again.refresh_token), { error: "invalid_grant" });
  }
});

test("a program on a desktop signs in at a port of its choice", async () => {
  const { id } = await register({ name: "Desktop", isPublic: true, redirectUris: [redirect_uri] });
  const configuration = await client.discovery(new URL(issuer), id, undefined, client.None(), options);
  const there = "http://127.0.0.1:51999/cb";
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(configuration, {
    redirect_uri: there,
    scope: "openid offline_access",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  const back = await new Browser().signIn(url.href, there);
  const tokens = await client.authorizationCodeGrant(configuration, new URL(back), { pkceCodeVerifier: verifier });
  assert.equal((await ask("/api/v1/me", tokens.access_token)).status, 200);
  await client.tokenRevocation(configuration, tokens.refresh_token);
  assert.equal((await ask("/api/v1/me", tokens.access_token)).status, 401);
});

test("who is signed in already comes back silently, and max_age asks anew", async () => {
  const { id } = await register({ name: "Silent", isPublic: true, redirectUris: [redirect_uri] });
  const configuration = await client.discovery(new URL(issuer), id, undefined, client.None(), options);
  await assert.rejects(signIn(configuration, { prompt: "none" }), { error: "login_required" });
  const { browser } = await signIn(configuration);
  const { tokens } = await signIn(configuration, { prompt: "none" }, browser);
  assert.ok(tokens.claims().auth_time > 0);
  const fresh = await signIn(configuration, { max_age: "0" }, browser);
  assert.ok(fresh.tokens.claims().auth_time >= tokens.claims().auth_time);
});

test("a machine acts with its own credentials", async () => {
  const me = await (await ask("/api/v1/identity/me", process.env.SVC_ADMIN_KEY)).json();
  const { id, secret } = await register({ name: "Import", actsAs: me.user.id });
  const configuration = await client.discovery(new URL(issuer), id, secret, undefined, options);
  const tokens = await client.clientCredentialsGrant(configuration);
  assert.equal((await ask("/odata/v1/Products", tokens.access_token)).status, 200);
});

test("a client hears that its session has ended", async () => {
  const heard = Promise.withResolvers?.() ?? deferred();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      response.end();
      heard.resolve(new URLSearchParams(body).get("logout_token"));
    });
  });
  await new Promise((done) => server.listen(Number(process.env.SVC_LOGOUT_PORT), "127.0.0.1", done));
  after(() => server.close());
  const { id } = await register({
    name: "Listener",
    isPublic: true,
    redirectUris: [redirect_uri],
    signedOutUris: ["http://127.0.0.1/bye"],
    logoutUri: `http://127.0.0.1:${process.env.SVC_LOGOUT_PORT}/logout`,
  });
  const configuration = await client.discovery(new URL(issuer), id, undefined, client.None(), options);
  const { tokens, browser } = await signIn(configuration);
  const { sub, sid } = tokens.claims();
  const bye = client.buildEndSessionUrl(configuration, {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: "http://127.0.0.1/bye",
  });
  await browser.follow(bye.href, "http://127.0.0.1/bye");
  const [header, claims] = (await heard.promise)
    .split(".")
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
  assert.equal(header.typ, "logout+jwt");
  assert.deepEqual([claims.iss, claims.aud, claims.sub, claims.sid], [issuer, id, sub, sid]);
  assert.deepEqual(claims.events, { "http://schemas.openid.net/event/backchannel-logout": {} });
  assert.equal(claims.nonce, undefined);
});

function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
