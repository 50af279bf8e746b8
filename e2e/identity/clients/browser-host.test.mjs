// A page in Chromium signs in and calls the API as in production: through a proxy with TLS, and a browser host in a process of
// its own, to the shop. The proxy stands here.

import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";
import { after, before, test } from "node:test";
import { blank, launch, send } from "./chromium.mjs";

const root = process.env.SVC_ISSUER;
const person = { email: "ada@example.com", password: "correct horse battery" };
const COOKIES = ["__Host-svc-bff", "__Host-svc-session"];
const CSRF = { "X-CSRF": "1" };
/** From where the proxy says that everybody comes. */
const ADDRESS = "198.51.100.7";

let browser;
let proxy;
/** A site of somebody else. */
let stranger;

/** Passes on what comes, and says from where, as proxies do. */
function pass(incoming, outgoing) {
  const told = [incoming.headers["x-forwarded-for"], ADDRESS].filter(Boolean).join(", ");
  const options = {
    host: "127.0.0.1",
    port: process.env.SVC_PROXIED_PORT,
    method: incoming.method,
    path: incoming.url,
    headers: { ...incoming.headers, "x-forwarded-for": told },
  };
  const inner = http.request(options, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  inner.on("error", () => outgoing.destroy());
  outgoing.on("close", () => inner.destroy());
  incoming.pipe(inner);
}

before(async () => {
  const bytes = (name) => Buffer.from(process.env[name], "base64");
  const key = createPrivateKey({ key: bytes("SVC_PROXY_KEY"), format: "der", type: "pkcs8" });
  const tls = {
    key: key.export({ format: "pem", type: "pkcs8" }),
    cert: new X509Certificate(bytes("SVC_PROXY_CERTIFICATE")).toString(),
  };
  proxy = https.createServer(tls, pass);
  await new Promise((done) => proxy.listen(Number(new URL(root).port), done));
  stranger = http.createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<!doctype html><p>"));
  await new Promise((done) => stranger.listen(0, "127.0.0.1", done));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  for (const server of [proxy, stranger]) {
    server?.close();
    server?.closeAllConnections();
  }
});

/** A page of a browser that nobody has used; `/blank` of the application is empty. */
async function visitor(options = {}) {
  const context = await browser.newContext({ locale: "en-GB", ignoreHTTPSErrors: true, ...options });
  await blank(context, `${root}/blank`);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  return page;
}

/** Signs in on the page that asks for it, where that leads to the account page. */
async function prove(page) {
  await page.fill("#email", person.email);
  await page.fill("#password", person.password);
  await Promise.all([page.waitForURL(`${root}/account`), send(page, 'form[action="/account/sign-in"] button')]);
}

/** Signs in by the address that an application begins with, up to the page that it leads back to, and on to one for scripts. */
async function signIn(page) {
  await page.goto(`${root}/bff/login?returnUrl=/account`);
  assert.match(page.url(), /\/account\/sign-in\?/);
  await prove(page);
  await page.goto(`${root}/blank`);
}

/** What the application answers a script of the page: the status, and the text. */
function ask(page, path, init = {}) {
  const asking = async ([address, options]) => {
    const response = await fetch(address, options);
    return { status: response.status, text: await response.text() };
  };
  return page.evaluate(asking, [path, { headers: CSRF, ...init }]);
}

const json = (body, headers = CSRF) => ({
  method: "POST",
  headers: { ...headers, "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

async function categories(page) {
  const { status, text } = await ask(page, "/odata/v1/Categories?$select=name");
  assert.equal(status, 200, text);
  return JSON.parse(text).value.map(({ name }) => name);
}

test("a page signs in and calls the API by a cookie that no script reads", async () => {
  const page = await visitor();
  await page.goto(`${root}/blank`);
  assert.equal((await ask(page, "/bff/user")).status, 401);
  await signIn(page);
  const kept = await page.context().cookies();
  for (const { name, secure, httpOnly, sameSite, path, domain } of kept) {
    const told = { secure, httpOnly, sameSite, path, domain };
    assert.deepEqual(told, { secure: true, httpOnly: true, sameSite: "Lax", path: "/", domain: "localhost" }, name);
    assert.match(name, /^__Host-/);
  }
  // Of what signs in there is as much as a random number has letters, and no token.
  for (const name of COOKIES) assert.equal(kept.find((cookie) => cookie.name === name)?.value.length, 43, name);
  const readable = await page.evaluate(() => [document.cookie, { ...localStorage, ...sessionStorage }]);
  assert.deepEqual(readable, ["", {}]);

  const user = await ask(page, "/bff/user");
  assert.equal(user.status, 200, user.text);
  const { identity, roles, appUrl } = JSON.parse(user.text);
  assert.deepEqual([identity.displayName, roles, appUrl], ["Administrator", ["Administrator"], "/"]);
  assert.equal((await ask(page, "/api/v1/me")).status, 200);

  // The header makes the difference, for reading and for changing.
  for (const path of ["/bff/user", "/api/v1/me", "/odata/v1/Categories"]) {
    const refused = await ask(page, path, { headers: {} });
    assert.equal(refused.status, 403, path);
    assert.match(refused.text, /bff\.needs_header/, path);
  }
  assert.equal((await ask(page, "/odata/v1/Categories", json({ name: "Forged" }, {}))).status, 403);
  const made = await ask(page, "/odata/v1/Categories", json({ name: "Lamps" }));
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(await categories(page), ["Lamps"]);
});

test("a page hears of changes by a stream that goes through at once", async () => {
  const page = await visitor();
  await signIn(page);
  const heard = page.evaluate(async (headers) => {
    const response = await fetch("/api/v1/live?topics=set:Categories", { headers });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    globalThis.listens = true;
    let text = "";
    while (!text.includes("event: changed")) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream has ended: ${text}`);
      text += value;
    }
    await reader.cancel();
    return response.headers.get("content-type");
  }, CSRF);
  await page.waitForFunction(() => globalThis.listens);
  const made = await ask(page, "/odata/v1/Categories", json({ name: "Streams" }));
  assert.equal(made.status, 201, made.text);
  assert.match(await heard, /^text\/event-stream/);
});

test("a page of another site makes the browser of a person do nothing", async () => {
  const page = await visitor();
  await signIn(page);
  const before = await categories(page);
  const evil = await page.context().newPage();
  const site = `http://127.0.0.1:${stranger.address().port}/`;
  await evil.goto(site);
  const tried = await evil.evaluate(async (target) => {
    const trying = (path, options) =>
      fetch(`${target}${path}`, { credentials: "include", ...options }).then(
        ({ type, status }) => `${type} ${status}`,
        ({ name }) => name,
      );
    const body = new Blob(['{"name":"Forged"}'], { type: "text/plain" });
    return {
      asksFirst: await trying("/odata/v1/Categories", {
        method: "POST",
        headers: { "X-CSRF": "1", "Content-Type": "application/json" },
        body: '{"name":"Forged"}',
      }),
      reads: await trying("/api/v1/me", {}),
      changes: await trying("/odata/v1/Categories", { method: "POST", mode: "no-cors", body }),
      signsOut: await trying("/bff/logout", { method: "POST", mode: "no-cors" }),
    };
  }, root);
  // What has to be asked for first isn't allowed; what needn't is sent, and can't be read.
  assert.deepEqual(tried, {
    asksFirst: "TypeError",
    reads: "TypeError",
    changes: "TypeError",
    signsOut: "TypeError",
  });
  // A form, which no script has to be allowed to send, is a page of its own; a frame stays empty.
  await evil.setContent(`<form method="post" action="${root}/bff/logout"><button>Win</button></form>`);
  await send(evil, "button");
  assert.match(await evil.textContent("body"), /bff\.needs_header|X-CSRF/);
  await evil.goto(site);
  const shown = evil.waitForEvent("console", (message) => /frame-ancestors/.test(message.text()));
  await evil.setContent(`<iframe src="${root}/account"></iframe>`);
  await shown;
  assert.deepEqual(await categories(page), before);
  assert.equal((await ask(page, "/bff/user")).status, 200);
});

test("who signs out, here or from another browser, is out at the host and at the provider", async () => {
  const page = await visitor();
  await signIn(page);
  const out = await ask(page, "/bff/logout", { method: "POST" });
  assert.equal(out.status, 200, out.text);
  assert.equal((await ask(page, "/bff/user")).status, 401);
  const left = await page.goto(JSON.parse(out.text).url);
  assert.equal(left.url(), `${root}/`);
  const names = (await page.context().cookies()).map(({ name }) => name);
  for (const name of COOKIES) assert.ok(!names.includes(name), name);
  const next = await page.context().newPage();
  await next.goto(`${root}/account`);
  assert.match(next.url(), /\/account\/sign-in/);

  // A session that is ended on the account page of another browser has ended with the next request.
  const [here, there] = [await visitor(), await visitor({ javaScriptEnabled: false })];
  await signIn(here);
  await there.goto(`${root}/account/sign-in?return=/account`);
  await prove(there);
  assert.match(await there.textContent("section[aria-labelledby=sessions]"), new RegExp(ADDRESS));
  assert.equal((await ask(here, "/api/v1/me")).status, 200);
  await send(there, 'button[value="others"]');
  assert.equal((await ask(here, "/api/v1/me")).status, 401);
  assert.equal((await ask(here, "/bff/user")).status, 401);
  await here.goto(`${root}/bff/login`);
  assert.match(here.url(), /\/account\/sign-in/);
});

test("answers say that they are for no other site, and demand TLS of no other port of this machine", async () => {
  const page = await visitor();
  for (const path of ["/account/sign-in", "/bff/loading-screen/logo", "/api/v1/me"]) {
    const answer = await page.context().request.get(`${root}${path}`);
    const headers = answer.headers();
    assert.equal(headers["strict-transport-security"], undefined, path);
    assert.equal(headers["cross-origin-resource-policy"], "same-origin", path);
    assert.match(headers["content-security-policy"], /frame-ancestors 'none'/, path);
  }
});
