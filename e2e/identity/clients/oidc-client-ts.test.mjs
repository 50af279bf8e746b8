// `oidc-client-ts`, the client of many pages, signs people in at our provider.

import assert from "node:assert/strict";
import { test } from "node:test";
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from "oidc-client-ts";
import { ask, Browser, issuer, register } from "./house.mjs";

test("a page signs in, refreshes, asks and signs out", async () => {
  const { id } = await register({
    name: "Page",
    isPublic: true,
    redirectUris: ["http://localhost:3000/cb"],
    signedOutUris: ["http://localhost:3000/"],
    origins: ["http://localhost:3000"],
  });
  const client = new OidcClient({
    authority: issuer,
    client_id: id,
    redirect_uri: "http://localhost:3000/cb",
    post_logout_redirect_uri: "http://localhost:3000/",
    scope: "openid profile email",
    loadUserInfo: true,
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  });
  const browser = new Browser();
  const request = await client.createSigninRequest({ state: { page: "/orders" } });
  const back = await browser.signIn(request.url, "http://localhost:3000/cb");
  const signedIn = await client.processSigninResponse(back);
  assert.equal(signedIn.profile.email, "ada@example.com");
  assert.deepEqual(signedIn.userState, { page: "/orders" });
  assert.equal((await ask("/api/v1/me", signedIn.access_token)).status, 200);
  const { refresh_token, profile, scope } = signedIn;
  const refreshed = await client.useRefreshToken({ state: { refresh_token, profile, scope } });
  assert.equal((await ask("/api/v1/me", refreshed.access_token)).status, 200);
  const out = await client.createSignoutRequest({ id_token_hint: signedIn.id_token });
  const { url } = await browser.follow(out.url, "http://localhost:3000/");
  await client.processSignoutResponse(url);
  assert.equal((await ask("/api/v1/me", refreshed.access_token)).status, 401);
});

test("a page of a registered origin may ask the token endpoint, another may not", async () => {
  await register({ name: "Origin", isPublic: true, origins: ["https://page.example"] });
  const preflight = (origin) =>
    fetch(`${issuer}/connect/token`, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST" },
    });
  const own = await preflight("https://page.example");
  assert.equal(own.headers.get("access-control-allow-origin"), "https://page.example");
  const foreign = await preflight("https://evil.example");
  assert.equal(foreign.headers.get("access-control-allow-origin"), null);
});
