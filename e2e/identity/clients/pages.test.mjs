// The account pages in Chromium, with JavaScript and without. `SVC_SHOTS` names a folder for pictures of them.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { launch, send } from "./chromium.mjs";

const root = process.env.SVC_ISSUER.replace("127.0.0.1", "localhost");
const admin = { Authorization: `Bearer ${process.env.SVC_ADMIN_KEY}`, "Content-Type": "application/json" };
const PASSWORD = "a ship in a harbour";

let browser;

before(async () => {
  browser = await launch();
});

after(() => browser?.close());

/** Asks the API as the administrator. */
async function api(method, path, body) {
  const response = await fetch(`${root}/api/v1/identity${path}`, { method, headers: admin, body: JSON.stringify(body) });
  const answer = await response.json();
  assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}

/** A page of a browser that nobody has used. */
async function visitor({ scripts = true, ...more } = {}) {
  const context = await browser.newContext({ javaScriptEnabled: scripts, locale: "en-GB", ...more });
  // The web client signs in by itself, which leads away from the page that a test has gone on to; here it is only where forms
  // lead to. (Its page itself can't be replaced: what a redirect leads to passes by a route.)
  await context.route(`${root}/assets/*.js`, (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on("console", (message) => {
    // Chromium tells a refused form (4xx) as an error, too.
    if (message.type() === "error" && !message.text().includes("status of 4")) assert.fail(message.text());
  });
  return page;
}

/** Sends a form that leads to the application. */
async function enter(page) {
  await Promise.all([page.waitForURL(`${root}/`), send(page)]);
}

/** Invites somebody, who chooses a password in `page` and is signed in there. */
async function invite(page, email, displayName = "Grace Hopper") {
  const made = await api("POST", "/users", { email, displayName });
  const link = new URL(made.invitationLink);
  await page.goto(`${root}${link.pathname}${link.search}`);
  await page.fill("#password", PASSWORD);
  await page.fill("#repeated", PASSWORD);
  await enter(page);
  await page.goto(`${root}/account`);
  const facts = await page.textContent("dl.facts").catch(async (error) => {
    throw new Error(`no account at ${page.url()}, but: ${await page.content()}`, { cause: error });
  });
  assert.match(facts, new RegExp(displayName));
  return made.id;
}

async function signIn(page, email, password = PASSWORD) {
  await page.goto(`${root}/account/sign-in?return=/account`);
  await page.fill("#email", email);
  await page.fill("#password", password);
  await send(page, 'form[action="/account/sign-in"] button');
}

async function signOut(page) {
  await page.goto(`${root}/account/sign-out`);
  await send(page);
}

/** A picture in light and dark, wide and on a phone. */
async function picture(page, name) {
  const folder = process.env.SVC_SHOTS;
  if (folder === undefined) return;
  for (const [size, width, height] of [["wide", 1280, 900], ["phone", 390, 844]]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${name}-${size}-${colorScheme}.png`, fullPage: true });
    }
  }
}

/** Nothing is cut off on a phone, and what is pressed is large enough for a finger. */
async function fitsPhone(page) {
  // With its style sheet: a page is there before that.
  await page.waitForLoadState("load");
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const wide = await page.locator("html").evaluate((html) => html.scrollWidth);
  assert.ok(wide <= 390, `${page.url()} is ${wide} wide`);
  for (const control of await page.locator("button:visible, input:visible, a.button:visible").all()) {
    const { height } = await control.boundingBox();
    assert.ok(height >= 43.5, `${page.url()}: ${await control.evaluate((it) => it.outerHTML)} is ${height} high`);
  }
  await page.setViewportSize(size);
}

/** What an authenticator app shows (RFC 6238), some steps on. */
function code(key, steps = 0) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = [...key.replaceAll(" ", "")].map((letter) => letters.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const secret = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const place = mac.at(-1) & 15;
  return String((mac.readUInt32BE(place) & 0x7f_ff_ff_ff) % 1_000_000).padStart(6, "0");
}

/** A key ring in the browser, which answers at once. */
async function keyRing(page, { checks = true } = {}) {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: checks,
      isUserVerified: checks,
      automaticPresenceSimulation: true,
    },
  });
  const verify = (isUserVerified) => session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
  return { verify };
}

test("a passkey is made, named, and signs in by itself and as the second step", async () => {
  const page = await visitor();
  const ring = await keyRing(page);
  const email = "passkey@example.com";
  await invite(page, email);
  await picture(page, "account");
  await page.goto(`${root}/account/accounts`);
  await picture(page, "accounts");
  await fitsPhone(page);
  await page.goto(`${root}/account/passkeys`);
  await page.fill("#name", "Test ring");
  await page.fill("#current", PASSWORD);
  await picture(page, "passkeys-none");
  await send(page, 'form[action="/account/passkeys/new"] button');
  await page.waitForSelector("form[data-passkey]");
  await picture(page, "passkey-make");
  await page.click("form[data-passkey] button");
  await page.waitForSelector(".codes");
  assert.equal(await page.locator(".codes li").count(), 10);
  await picture(page, "recovery-codes");
  await page.goto(`${root}/account/passkeys`);
  assert.equal(await page.inputValue("ul.rows input"), "Test ring");
  await page.fill("ul.rows input", "My ring");
  await send(page, 'button[name="rename"]');
  assert.equal(await page.inputValue("ul.rows input"), "My ring");
  await picture(page, "passkeys");
  await fitsPhone(page);
  // Enter saves names, and removes nothing.
  await page.fill("ul.rows input", "Mine");
  await Promise.all([page.waitForEvent("framenavigated"), page.press("ul.rows input", "Enter")]);
  await page.waitForSelector('[role="status"]');
  await page.fill("#removing", PASSWORD);
  await page.press("#removing", "Enter");
  await page.goto(`${root}/account/passkeys`);
  assert.equal(await page.inputValue("ul.rows input"), "Mine");

  // By itself.
  await signOut(page);
  await page.goto(`${root}/account/sign-in?return=/account`);
  await page.waitForSelector("form[data-passkey]");
  await picture(page, "sign-in");
  await fitsPhone(page);
  await page.click("form[data-passkey] button");
  await page.waitForURL(`${root}/account`);

  // As the second step; and not at all where the key finds that it is somebody else.
  await signOut(page);
  await signIn(page, email);
  await page.waitForURL("**/account/second-factor**");
  await picture(page, "second-factor-passkey");
  await page.click("form[data-passkey] button");
  await page.waitForURL(`${root}/account`);
  await signOut(page);
  await ring.verify(false);
  await page.goto(`${root}/account/sign-in?return=/account`);
  await page.click("form[data-passkey] button");
  await page.waitForSelector("form[data-passkey] [role=alert]:visible");
  await picture(page, "passkey-failed");

  // Without a script the page says so, and offers a recovery code.
  const plain = await visitor({ scripts: false });
  await signIn(plain, email);
  assert.match(await plain.textContent("main"), /JavaScript/);
  assert.equal(await plain.locator("form[data-passkey]:visible").count(), 0);
  await send(plain, "text=Use a recovery code instead");
  assert.ok(await plain.isVisible("#code"));
  await picture(plain, "recovery-code");
});

test("a key that can't check who touches it is a second step, and no more", async () => {
  const page = await visitor();
  await keyRing(page, { checks: false });
  const email = "touched@example.com";
  await invite(page, email);
  await page.goto(`${root}/account/passkeys`);
  await page.fill("#name", "Touched");
  await page.fill("#current", PASSWORD);
  await send(page, 'form[action="/account/passkeys/new"] button');
  await page.click("form[data-passkey] button");
  await page.waitForSelector(".codes");
  await signOut(page);
  await signIn(page, email);
  await page.waitForURL("**/account/second-factor**");
  await page.click("form[data-passkey] button");
  await page.waitForURL(`${root}/account`);
  await signOut(page);
  await page.goto(`${root}/account/sign-in?return=/account`);
  await page.click("form[data-passkey] button");
  await page.waitForSelector("form[data-passkey] [role=alert]:visible");
});

for (const scripts of [true, false]) {
  const how = scripts ? "with JavaScript" : "without JavaScript";
  const name = scripts ? "scripted" : "plain";

  test(`a second factor is switched on and asked for, ${how}`, async () => {
    const page = await visitor({ scripts });
    const email = `factor-${name}@example.com`;
    await invite(page, email);
    await page.goto(`${root}/account/second-step`);
    const key = await page.textContent(".key");
    await page.fill("#code", code(key));
    await page.fill("#current", PASSWORD);
    await picture(page, `enrol-${name}`);
    await fitsPhone(page);
    await send(page);
    await page.waitForSelector(".codes li");
    const codes = await page.locator(".codes li").allTextContents();
    assert.equal(codes.length, 10);
    await signOut(page);
    await signIn(page, email);
    await page.waitForURL("**/account/second-factor**");
    await page.fill("#code", "000000");
    await send(page);
    assert.equal(await page.getAttribute("#code", "aria-invalid"), "true");
    await picture(page, `second-factor-wrong-${name}`);
    // A code counts once, and no later than a step behind its own: the one before might be over when it arrives.
    await page.fill("#code", code(key, 1));
    await send(page);
    await page.waitForURL(`${root}/account`);
    await signOut(page);
    await signIn(page, email);
    await send(page, "text=Use a recovery code instead");
    await page.fill("#code", codes[0]);
    await send(page);
    await page.waitForURL(`${root}/account`);
  });

  test(`somebody is invited, and a role counts at once, ${how}`, async () => {
    const page = await visitor({ scripts });
    const email = `role-${name}@example.com`;
    const id = await invite(page, email);
    await page.goto(`${root}/bff/login?returnUrl=/account`);
    await page.waitForURL(`${root}/account`);
    const headers = { "X-CSRF": "1" };
    const ask = (path) => page.context().request.get(`${root}${path}`, { headers });
    assert.equal((await ask("/odata/v1/Products")).status(), 403);
    const role = await api("POST", "/roles", { name: `Buyer ${name}`, permissions: ["Products.View"] });
    await api("PUT", `/users/${id}`, { roles: [role.id] });
    assert.equal((await ask("/odata/v1/Products")).status(), 200);
    assert.deepEqual((await (await ask("/bff/user")).json()).roles, [`Buyer ${name}`]);
    await api("PUT", `/users/${id}`, { roles: [] });
    assert.equal((await ask("/odata/v1/Products")).status(), 403);
    // Who is taken away is out.
    await api("PUT", `/users/${id}`, { disabled: true });
    await page.goto(`${root}/account`);
    assert.match(page.url(), /\/account\/sign-in/);
  });

  test(`the own name and address are changed, ${how}`, async () => {
    const page = await visitor({ scripts });
    await invite(page, `own-${name}@example.com`, "Grace");
    await send(page, "text=Change name or address");
    await picture(page, `details-${name}`);
    await fitsPhone(page);
    await page.fill("#name", "Grace Hopper");
    await send(page);
    assert.match(await page.textContent("dl.facts"), /Grace Hopper/);
    await page.goto(`${root}/account/details`);
    await page.fill("#email", "new@example.com");
    await send(page);
    assert.equal(await page.getAttribute("#current", "aria-invalid"), "true");
    await page.fill("#current", PASSWORD);
    await send(page);
    assert.match(await page.textContent('[role="status"]'), /counts once you have opened the link/);
    assert.match(await page.textContent("dl.facts"), new RegExp(`own-${name}@example.com`));
  });
}

test("whoever guesses waits, and the person gets in, with JavaScript and without", async () => {
  for (const scripts of [true, false]) {
    const known = await visitor({ scripts });
    const email = `locked-${scripts}@example.com`;
    await invite(known, email);
    await signOut(known);
    const guesser = await visitor({ scripts });
    let text = "";
    for (let attempt = 0; attempt < 30 && !text.includes("too many attempts"); attempt += 1) {
      await signIn(guesser, email, `guess number ${attempt}`);
      text = await guesser.textContent('[role="alert"]');
    }
    assert.match(text, /too many attempts/);
    await picture(guesser, `locked-${scripts}`);
    await fitsPhone(guesser);
    await signIn(known, email);
    await known.waitForURL(`${root}/account`);
  }
});

test("the pages fit a phone in German, which is longer", async () => {
  const page = await visitor({ locale: "de-DE" });
  const show = async (path) => {
    await page.goto(`${root}/${path}`);
    assert.equal(await page.getAttribute("html", "lang"), "de", path);
    await picture(page, `de-${path.replace("account/", "")}`);
    await fitsPhone(page);
  };
  for (const path of ["sign-in", "forgotten", "recovery"]) await show(`account/${path}`);
  await page.fill("#code", "abcd-efgh-jkmn-pqrs");
  await send(page);
  assert.equal(await page.getAttribute("#code", "aria-invalid"), "true");
  await picture(page, "de-recovery-refused");
  await keyRing(page);
  await invite(page, "deutsch@example.com", "Grete Hermann");
  await page.goto(`${root}/account/passkeys`);
  await page.fill("#name", "Mein Telefon");
  await page.fill("#current", PASSWORD);
  await send(page, 'form[action="/account/passkeys/new"] button');
  await page.waitForSelector("form[data-passkey]");
  await picture(page, "de-passkey-make");
  await page.click("form[data-passkey] button");
  await page.waitForSelector(".codes");
  await picture(page, "de-recovery-codes");
  await fitsPhone(page);
  await show("account");
  for (const path of ["details", "passkeys", "second-step", "accounts", "sign-out"]) await show(`account/${path}`);
  await signOut(page);
  await signIn(page, "deutsch@example.com");
  await page.waitForURL("**/account/second-factor**");
  await picture(page, "de-second-factor");
  await fitsPhone(page);
  await page.goto(`${root}/account/second-factor?recovery=1`);
  await picture(page, "de-second-factor-recovery");
  await fitsPhone(page);
});
