// A receiver of webhooks on Node: verifies each with the `standardwebhooks` package, and writes
// what it got to standard output, one JSON object a line.
//
//   node receiver.mjs <port, 0 for any> <secret or public key> [<second one>]

import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const [port, ...keys] = process.argv.slice(2);

/** Whether the request carries a signature that one of our secrets (`whsec_…`) makes. */
function hasSecretSignature(secret, body, headers) {
  if (!/^\d+$/.test(headers["webhook-timestamp"] ?? "")) {
    return false; // The library would read `12.5` as 12.
  }
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

/** Whether the request carries a signature of the private half of a public key (`whpk_…`). */
function hasKeyPairSignature(publicKey, body, headers) {
  const { "webhook-id": id, "webhook-timestamp": timestamp } = headers;
  const age = Date.now() / 1000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp ?? "") || Math.abs(age) > 300) {
    return false;
  }
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey.slice(5), "base64").toString("base64url") },
    format: "jwk",
  });
  const signed = Buffer.from(`${id}.${timestamp}.${body}`);
  return (headers["webhook-signature"] ?? "")
    .split(" ")
    .filter((entry) => entry.startsWith("v1a,"))
    .some((entry) => verify(null, signed, key, Buffer.from(entry.slice(4), "base64")));
}

/** Whether the request is from whoever holds one of the keys. `body` is the text as it came. */
function isGenuine(keys, body, headers) {
  return keys.some((key) =>
    key.startsWith("whpk_") ? hasKeyPairSignature(key, body, headers) : hasSecretSignature(key, body, headers),
  );
}

/** Events that came before; a real receiver keeps them in its database for a day or two. */
const seen = new Set();

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    if (!isGenuine(keys, body, request.headers)) {
      response.writeHead(401).end(() => tell(request, body, { accepted: false }));
      return;
    }
    const event = JSON.parse(body);
    const isDuplicate = seen.has(event.id);
    seen.add(event.id);
    if (!isDuplicate) {
      // Put the event into a queue of your own here, and do the work after the answer.
    }
    response.writeHead(204).end(() => tell(request, body, { accepted: true, duplicate: isDuplicate }));
  });
});

/** For whoever watches this program; a real receiver has no need of it. */
function tell(request, body, outcome) {
  const line = { ...outcome, method: request.method, headers: request.headers, body };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

server.listen(Number(port), "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ listening: server.address().port })}\n`);
});
