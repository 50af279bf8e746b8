// What the tests on Node share: where the application is, a browser that keeps cookies, and a program that is registered.

import assert from "node:assert/strict";

/** The address of the application, without a slash at the end. */
export const issuer = process.env.SVC_ISSUER;

const admin = { Authorization: `Bearer ${process.env.SVC_ADMIN_KEY}`, "Content-Type": "application/json" };

/** Registers a program of the organisation; its `client_id` and secret. */
export async function register(wish) {
  const response = await fetch(`${issuer}/api/v1/identity/clients`, {
    method: "POST",
    headers: admin,
    body: JSON.stringify(wish),
  });
  const client = await response.json();
  assert.equal(response.status, 201, JSON.stringify(client));
  return client;
}

/** Reads something of the API with an access token. */
export async function ask(path, token) {
  return fetch(`${issuer}${path}`, { headers: { Authorization: `Bearer ${token}` } });
}

/** A browser: it keeps cookies by origin, and goes where it is sent until that leads to `stop`. */
export class Browser {
  #cookies = new Map();

  #jar(url) {
    const { origin } = new URL(url);
    if (!this.#cookies.has(origin)) this.#cookies.set(origin, new Map());
    return this.#cookies.get(origin);
  }

  async fetch(url, init = {}) {
    const jar = this.#jar(url);
    const headers = new Headers(init.headers);
    if (jar.size > 0) headers.set("Cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split("; ");
      const place = pair.indexOf("=");
      const name = pair.slice(0, place);
      if (attributes.includes("Max-Age=0")) jar.delete(name);
      else jar.set(name, pair.slice(place + 1));
    }
    return response;
  }

  /** Goes to an address and on; the address that begins with `stop`, or the last page. */
  async follow(url, stop, init = {}) {
    let options = init;
    for (let step = 0; step < 12; step += 1) {
      if (stop !== undefined && url.startsWith(stop)) return { url };
      const response = await this.fetch(url, options);
      options = {};
      const to = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || to === null) {
        const page = await response.text();
        // A page of ours leads on to another host by itself: a form may not.
        const on = /^0; url=(.+)$/.exec(response.headers.get("refresh") ?? "");
        if (on === null) return { url, response, page };
        url = new URL(on[1], url).href;
        continue;
      }
      url = new URL(to, url).href;
    }
    throw new Error(`sent around for ever: ${url}`);
  }

  /** Sends the form of a page, with values in its fields. */
  async submit({ url, page }, values, stop) {
    const action = unescapeHtml(/<form[^>]* action="([^"]+)"/.exec(page)[1]);
    const form = new URLSearchParams();
    for (const [input] of page.matchAll(/<input[^>]*type="hidden"[^>]*>/g)) {
      const name = /name="([^"]+)"/.exec(input)[1];
      form.set(name, unescapeHtml(/value="([^"]*)"/.exec(input)?.[1] ?? ""));
    }
    for (const [name, value] of Object.entries(values)) form.set(name, value);
    const target = new URL(action, url).href;
    return this.follow(target, stop, {
      method: "POST",
      body: form,
      headers: { "Sec-Fetch-Site": "same-origin", Origin: new URL(url).origin },
    });
  }

  /** Goes to an address that needs a sign-in, signs in as the administrator, and comes to `stop`. */
  async signIn(url, stop) {
    const at = await this.follow(url, stop);
    if (at.response === undefined) return at.url;
    const person = { email: "ada@example.com", password: "correct horse battery" };
    const done = await this.submit(at, person, stop);
    assert.ok(done.response === undefined, `${done.url}: ${done.page}`);
    return done.url;
  }
}

function unescapeHtml(text) {
  const letters = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (decimal) return String.fromCodePoint(Number(decimal));
    if (hexadecimal) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
    return letters[name] ?? whole;
  });
}
