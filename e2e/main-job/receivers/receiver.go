// A receiver of webhooks in Go: verifies each with the standard library alone, and writes what it got to
// standard output, one JSON object a line.
//
//	go build receiver.go && ./receiver <port, 0 for any> <secret or public key> [<second one>]
package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// isRecent says whether the request was signed within the last five minutes, or the next.
func isRecent(header http.Header) bool {
	seconds, err := strconv.ParseUint(header.Get("webhook-timestamp"), 10, 63)
	age := time.Since(time.Unix(int64(seconds), 0))
	return err == nil && age.Abs() <= 5*time.Minute
}

// signatures decodes those of a scheme, `v1` or `v1a`.
func signatures(header http.Header, scheme string) (found [][]byte) {
	for _, entry := range strings.Split(header.Get("webhook-signature"), " ") {
		if strings.HasPrefix(entry, scheme+",") {
			signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(entry, scheme+","))
			if err == nil {
				found = append(found, signature)
			}
		}
	}
	return found
}

// signed is what a signature is about. The body is as it came.
func signed(body []byte, header http.Header) []byte {
	head := header.Get("webhook-id") + "." + header.Get("webhook-timestamp") + "."
	return append([]byte(head), body...)
}

// hasSecretSignature says whether the request carries a signature that our secret (`whsec_…`) makes.
func hasSecretSignature(secret string, body []byte, header http.Header) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !isRecent(header) {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(signed(body, header))
	expected := mac.Sum(nil)
	for _, signature := range signatures(header, "v1") {
		if hmac.Equal(signature, expected) {
			return true
		}
	}
	return false
}

// hasKeyPairSignature says whether the request carries a signature of the private half of a public key
// (`whpk_…`).
func hasKeyPairSignature(publicKey string, body []byte, header http.Header) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize || !isRecent(header) {
		return false
	}
	for _, signature := range signatures(header, "v1a") {
		if ed25519.Verify(key, signed(body, header), signature) {
			return true
		}
	}
	return false
}

// isGenuine says whether the request is from whoever holds one of the keys.
func isGenuine(keys []string, body []byte, header http.Header) bool {
	for _, key := range keys {
		if strings.HasPrefix(key, "whpk_") && hasKeyPairSignature(key, body, header) ||
			strings.HasPrefix(key, "whsec_") && hasSecretSignature(key, body, header) {
			return true
		}
	}
	return false
}

type receiver struct {
	keys []string
	// Requests are answered side by side.
	mutex sync.Mutex
	// Events that came before; a real receiver keeps them in its database for a day or two.
	seen map[string]bool
}

func (r *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || !isGenuine(r.keys, body, request.Header) {
		response.WriteHeader(http.StatusUnauthorized)
		r.tell(request, body, map[string]any{"accepted": false})
		return
	}
	var event struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	isDuplicate := r.isKnown(event.ID)
	if !isDuplicate {
		// Put the event into a queue of your own here, and do the work after the answer.
	}
	response.WriteHeader(http.StatusNoContent)
	r.tell(request, body, map[string]any{"accepted": true, "duplicate": isDuplicate})
}

// isKnown says whether an event came before, and remembers it.
func (r *receiver) isKnown(event string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	isKnown := r.seen[event]
	r.seen[event] = true
	return isKnown
}

// tell is for whoever watches this program; a real receiver has no need of it.
func (r *receiver) tell(request *http.Request, body []byte, outcome map[string]any) {
	headers := map[string]string{}
	for name := range request.Header {
		headers[strings.ToLower(name)] = request.Header.Get(name)
	}
	outcome["method"], outcome["headers"], outcome["body"] = request.Method, headers, string(body)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	write(outcome)
}

func write(line map[string]any) {
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(line); err != nil {
		log.Fatal(err)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	write(map[string]any{"listening": listener.Addr().(*net.TCPAddr).Port})
	log.Fatal(http.Serve(listener, &receiver{keys: os.Args[2:], seen: map[string]bool{}}))
}
