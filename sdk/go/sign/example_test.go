package sign_test

import (
	"fmt"
	"time"

	"parley.example/client/sign"
)

// A client signs the target exactly as it will stand in the request line, and
// sends the same timestamp that it signed.
func ExampleV5() {
	timestamp := sign.FormatTimestamp(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	signature := sign.V5("gs_secret", "GET", "/api/v5/requests?limit=50", timestamp, "", nil)
	fmt.Println("timestamp:", timestamp)
	fmt.Println("hash-signature:", signature)
	// Output:
	// timestamp: 1767225600
	// hash-signature: f7fbae55dbfd1a2cf817aa7990449f01c8b4ca8da65599900bd29d4b58e7902d
}

func ExampleV5Text() {
	text := sign.V5Text("PUT", "/api/v5/example?a=1", "1767225600", "order-1", []byte(`{"a":1}`))
	fmt.Println(string(text))
	// Output:
	// SVC-HMAC-V5-1
	// PUT
	// /api/v5/example?a=1
	// 1767225600
	// order-1
	// {"a":1}
}

// A verifier checks two things: that the timestamp is recent and that the
// signature matches.
func ExampleVerifyV5() {
	serverTime := time.Unix(1767225630, 0)
	const timestamp, target = "1767225600", "/api/v5/keys"
	signature := sign.V5("gs_secret", "GET", target, timestamp, "", nil)

	fresh := sign.CheckTimestamp(timestamp, serverTime, sign.DefaultSkew).Freshness == sign.Fresh
	fits := sign.VerifyV5("gs_secret", "GET", target, timestamp, "", nil, signature)
	altered := sign.VerifyV5("gs_secret", "GET", target+"?limit=1", timestamp, "", nil, signature)
	fmt.Println(fresh, fits, altered)
	// Output: true true false
}

func ExampleCheckTimestamp() {
	now := time.Unix(1767225600, 0)
	for _, timestamp := range []string{"1767225580", "1767225000", "1767225600000", "soon"} {
		check := sign.CheckTimestamp(timestamp, now, sign.DefaultSkew)
		fmt.Println(check.Freshness, check.Milliseconds)
	}
	// Output:
	// fresh false
	// behind false
	// ahead true
	// malformed false
}

// Versions 3 and 4 sign the raw body, with an API key or the project secret.
func ExampleLegacy() {
	body := []byte(`{"status":"inactive"}`)
	signature := sign.Legacy("pk_key", body)
	fmt.Println("hash-signature:", signature)
	fmt.Println(sign.VerifyLegacy("pk_key", body, signature))
	// Output:
	// hash-signature: qcGvbXigSprPeQ9T1dimCm9oh92cMAiy7qaef1qyfPs=
	// true
}

// A receiver of webhooks checks the signature over the raw body, then the
// time, before it reads any of the JSON.
func ExampleVerifyWebhook() {
	// The received headers webhook-id, webhook-timestamp and
	// webhook-signature, and the raw body.
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	const id, timestamp = "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330"
	const header = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	body := []byte(`{"test": 2432232314}`)

	if err := sign.VerifyWebhook([]string{secret}, id, timestamp, body, header); err != nil {
		fmt.Println("refused:", err)
		return
	}
	arrived := time.Unix(1614265333, 0)
	fmt.Println(sign.CheckTimestamp(timestamp, arrived, sign.DefaultSkew).Freshness)
	// Output: fresh
}

// While a project secret is being rotated, deliveries carry both signatures.
func ExampleWebhook() {
	secrets := []string{
		"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", // the new one
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",             // the one that ends
	}
	header, err := sign.Webhook(secrets, "msg_1", "1767225600", []byte("{}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	onlyTheOldOne := secrets[1:]
	fmt.Println(len(header))
	fmt.Println(sign.VerifyWebhook(onlyTheOldOne, "msg_1", "1767225600", []byte("{}"), header))
	// Output:
	// 95
	// <nil>
}
