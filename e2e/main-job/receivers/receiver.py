"""A receiver of webhooks on Python: verifies each with the `standardwebhooks` package, and writes
what it got to standard output, one JSON object a line.

    python receiver.py <port, 0 for any> <secret or public key> [<second one>]
"""

import base64
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook

PORT, *KEYS = sys.argv[1:]


def has_secret_signature(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    """Whether the request carries a signature that one of our secrets (`whsec_…`) makes."""
    if not headers.get("webhook-timestamp", "").isdecimal():
        return False  # The library would read `12.5` as 12.
    try:
        Webhook(secret).verify(body.decode(), headers)
        return True
    except Exception:  # Whatever is wrong with a request, it is refused.
        return False


def has_key_pair_signature(public_key: str, body: bytes, headers: dict[str, str]) -> bool:
    """Whether the request carries a signature of the private half of a public key (`whpk_…`)."""
    event, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key.removeprefix("whpk_")))
    signed = f"{event}.{timestamp}.".encode() + body
    for entry in headers.get("webhook-signature", "").split(" "):
        if entry.startswith("v1a,"):
            try:
                key.verify(base64.b64decode(entry.removeprefix("v1a,")), signed)
                return True
            except (InvalidSignature, ValueError):
                continue
    return False


def is_genuine(keys: list[str], body: bytes, headers: dict[str, str]) -> bool:
    """Whether the request is from whoever holds one of the keys. `body` is as it came."""
    return any(
        has_key_pair_signature(key, body, headers)
        if key.startswith("whpk_")
        else has_secret_signature(key, body, headers)
        for key in keys
    )


# Events that came before; a real receiver keeps them in its database for a day or two.
SEEN: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not is_genuine(KEYS, body, headers):
            self.answer(401)
            self.tell(body, headers, accepted=False)
            return
        event = json.loads(body)
        is_duplicate = event["id"] in SEEN
        SEEN.add(event["id"])
        if not is_duplicate:
            pass  # Put the event into a queue of your own here, and do the work after the answer.
        self.answer(204)
        self.tell(body, headers, accepted=True, duplicate=is_duplicate)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def tell(self, body: bytes, headers: dict[str, str], **outcome: bool) -> None:
        """For whoever watches this program; a real receiver has no need of it."""
        text = body.decode(errors="replace")
        write({**outcome, "method": self.command, "headers": headers, "body": text})

    def log_message(self, *_: object) -> None:
        pass


# Requests are answered side by side, and `print` writes a line and its end one after the other.
WRITER = threading.Lock()


def write(line: dict) -> None:
    with WRITER:
        print(json.dumps(line), flush=True)


server = ThreadingHTTPServer(("127.0.0.1", int(PORT)), Receiver)
write({"listening": server.server_address[1]})
server.serve_forever()
