// A receiver of webhooks on Node: verifies each with the `standardwebhooks` package, and writes
// what it got to standard output, one JSON object a line.
//
//   node receiver.mjs <port, 0 for any> <secret> [<second secret>]

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const [port, ...secrets] = process.argv.slice(2);

function verified(body, headers) {
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      // Another secret may fit.
    }
  }
  return false;
}

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString("utf8");
    const accepted = verified(body, request.headers);
    response.writeHead(accepted ? 204 : 401).end(() => {
      const line = { accepted, method: request.method, headers: request.headers, body };
      process.stdout.write(`${JSON.stringify(line)}\n`);
    });
  });
});

server.listen(Number(port), "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ listening: server.address().port })}\n`);
});
