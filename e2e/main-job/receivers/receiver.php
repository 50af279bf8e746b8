<?php
// A receiver of webhooks in PHP: verifies each with what PHP has, and writes what it got to standard
// output, one JSON object a line.
//
//     php receiver.php <port, 0 for any> <secret or public key> [<second one>]

declare(strict_types=1);

[, $port] = $argv;
$keys = array_slice($argv, 2);

/** Whether the request was signed within the last five minutes, or the next. */
function is_recent(array $headers): bool
{
    $timestamp = $headers['webhook-timestamp'] ?? '';
    return ctype_digit($timestamp) && abs(time() - (int) $timestamp) <= 300;
}

/** The signatures of a scheme, `v1` or `v1a`. */
function signatures(array $headers, string $scheme): array
{
    $found = [];
    foreach (explode(' ', $headers['webhook-signature'] ?? '') as $entry) {
        if (str_starts_with($entry, "$scheme,")) {
            $found[] = (string) base64_decode(substr($entry, strlen($scheme) + 1), true);
        }
    }
    return $found;
}

/** What a signature is about. The body is as it came. */
function signed(string $body, array $headers): string
{
    return ($headers['webhook-id'] ?? '') . '.' . ($headers['webhook-timestamp'] ?? '') . '.' . $body;
}

/** Whether the request carries a signature that our secret (`whsec_…`) makes. */
function has_secret_signature(string $secret, string $body, array $headers): bool
{
    $key = base64_decode(substr($secret, strlen('whsec_')), true);
    if ($key === false || !is_recent($headers)) {
        return false;
    }
    $expected = hash_hmac('sha256', signed($body, $headers), $key, true);
    foreach (signatures($headers, 'v1') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

/** Whether the request carries a signature of the private half of a public key (`whpk_…`). */
function has_key_pair_signature(string $public_key, string $body, array $headers): bool
{
    $key = base64_decode(substr($public_key, strlen('whpk_')), true);
    if ($key === false || !is_recent($headers)) {
        return false;
    }
    foreach (signatures($headers, 'v1a') as $signature) {
        if (
            strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES
            && sodium_crypto_sign_verify_detached($signature, signed($body, $headers), $key)
        ) {
            return true;
        }
    }
    return false;
}

/** Whether the request is from whoever holds one of the keys. */
function is_genuine(array $keys, string $body, array $headers): bool
{
    foreach ($keys as $key) {
        $is_pair = str_starts_with($key, 'whpk_');
        if ($is_pair ? has_key_pair_signature($key, $body, $headers) : has_secret_signature($key, $body, $headers)) {
            return true;
        }
    }
    return false;
}

/** The status to answer with. `$seen` are events that came before; a real receiver keeps them in its database. */
function receive(array $keys, string $body, array $headers, array &$seen): int
{
    if (!is_genuine($keys, $body, $headers)) {
        tell($body, $headers, ['accepted' => false]);
        return 401;
    }
    $id = json_decode($body, true)['id'];
    $is_duplicate = isset($seen[$id]);
    $seen[$id] = true;
    if (!$is_duplicate) {
        // Put the event into a queue of your own here, and do the work after the answer.
    }
    tell($body, $headers, ['accepted' => true, 'duplicate' => $is_duplicate]);
    return 204;
}

/** For whoever watches this program; a real receiver has no need of it. */
function tell(string $body, array $headers, array $outcome): void
{
    write($outcome + ['method' => 'POST', 'headers' => $headers, 'body' => $body]);
}

function write(array $line): void
{
    fwrite(STDOUT, json_encode($line, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES) . "\n");
}

/** As much of HTTP as it takes; a real receiver runs behind a web server. */
function serve($client, array $keys, array &$seen): void
{
    if (fgets($client) === false) {
        return;
    }
    $headers = [];
    while (($line = trim((string) fgets($client))) !== '') {
        [$name, $value] = explode(':', $line, 2);
        $headers[strtolower($name)] = trim($value);
    }
    $length = (int) ($headers['content-length'] ?? 0);
    $body = $length > 0 ? (string) stream_get_contents($client, $length) : '';
    $status = receive($keys, $body, $headers, $seen);
    fwrite($client, "HTTP/1.1 $status -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    fclose($client);
}

$server = stream_socket_server("tcp://127.0.0.1:$port");
write(['listening' => (int) substr(strrchr(stream_socket_get_name($server, false), ':'), 1)]);
$seen = [];
while (true) {
    $client = stream_socket_accept($server, -1);
    if ($client !== false) {
        serve($client, $keys, $seen);
    }
}
