"""A receiver of webhooks on Python: verifies each with the `standardwebhooks` package, and writes
what it got to standard output, one JSON object a line.

    python receiver.py <port, 0 for any> <secret> [<second secret>]
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

PORT, *SECRETS = sys.argv[1:]


def verified(body: str, headers: dict[str, str]) -> bool:
    for secret in SECRETS:
        try:
            Webhook(secret).verify(body, headers)
            return True
        except WebhookVerificationError:
            continue
    return False


def tell(line: dict) -> None:
    print(json.dumps(line), flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        accepted = verified(body, headers)
        self.send_response(204 if accepted else 401)
        self.send_header("content-length", "0")
        self.end_headers()
        tell({"accepted": accepted, "method": "POST", "headers": headers, "body": body})

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(PORT)), Receiver)
tell({"listening": server.server_address[1]})
server.serve_forever()
