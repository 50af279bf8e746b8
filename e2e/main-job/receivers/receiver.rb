# A receiver of webhooks in Ruby: verifies each with the standard library alone, and writes what it got
# to standard output, one JSON object a line.
#
#     ruby receiver.rb <port, 0 for any> <secret or public key> [<second one>]

require "json"
require "openssl"
require "set"
require "socket"

PORT, *KEYS = ARGV

# Whether the request was signed within the last five minutes, or the next.
def recent?(headers)
  timestamp = headers["webhook-timestamp"].to_s
  timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= 300
end

# The signatures of a scheme, `v1` or `v1a`.
def signatures(headers, scheme)
  entries = headers["webhook-signature"].to_s.split(" ").map { |entry| entry.split(",", 2) }
  entries.select { |name, _| name == scheme }.map { |_, text| text.to_s.unpack1("m") }
end

# What a signature is about. The body is as it came.
def signed(body, headers)
  "#{headers["webhook-id"]}.#{headers["webhook-timestamp"]}.".b + body
end

# Whether the request carries a signature that our secret (`whsec_…`) makes.
def secret_signature?(secret, body, headers)
  key = secret.delete_prefix("whsec_").unpack1("m0")
  expected = OpenSSL::HMAC.digest("SHA256", key, signed(body, headers))
  recent?(headers) && signatures(headers, "v1").any? do |signature|
    OpenSSL.secure_compare(signature, expected)
  end
end

# Whether the request carries a signature of the private half of a public key (`whpk_…`).
def key_pair_signature?(public_key, body, headers)
  # What comes before the 32 bytes of an Ed25519 key says that it is one (RFC 8410).
  head = ["302a300506032b6570032100"].pack("H*")
  key = OpenSSL::PKey.read(head + public_key.delete_prefix("whpk_").unpack1("m0"))
  recent?(headers) && signatures(headers, "v1a").any? do |signature|
    key.verify(nil, signature, signed(body, headers))
  rescue OpenSSL::PKey::PKeyError
    false
  end
end

# Whether the request is from whoever holds one of the keys.
def genuine?(keys, body, headers)
  keys.any? do |key|
    key.start_with?("whpk_") ? key_pair_signature?(key, body, headers) : secret_signature?(key, body, headers)
  end
end

# Events that came before; a real receiver keeps them in its database for a day or two.
SEEN = Set.new

# The status to answer with.
def receive(body, headers)
  unless genuine?(KEYS, body, headers)
    tell(body, headers, accepted: false)
    return 401
  end
  is_new = SEEN.add?(JSON.parse(body)["id"])
  # Put a new event into a queue of your own here, and do the work after the answer.
  tell(body, headers, accepted: true, duplicate: !is_new)
  204
end

# For whoever watches this program; a real receiver has no need of it.
def tell(body, headers, outcome)
  write({ **outcome, method: "POST", headers: headers, body: body.dup.force_encoding("UTF-8").scrub })
end

def write(line)
  puts JSON.generate(line)
  $stdout.flush
end

# As much of HTTP as it takes; a real receiver runs in a server such as Puma.
def serve(client)
  return unless client.gets

  headers = {}
  while (line = client.gets&.chomp) && !line.empty?
    name, value = line.split(":", 2)
    headers[name.downcase] = value.strip
  end
  status = receive(client.read(headers["content-length"].to_i).to_s.b, headers)
  client.write("HTTP/1.1 #{status} -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
ensure
  client.close
end

server = TCPServer.new("127.0.0.1", PORT.to_i)
write({ listening: server.addr[1] })
loop { serve(server.accept) }
