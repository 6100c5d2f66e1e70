package sign_test

import (
	"bytes"
	"testing"
	"time"

	"parley.example/client/sign"
)

func BenchmarkVerifyV5(b *testing.B) {
	for _, size := range []struct {
		name string
		body []byte
	}{{"get", nil}, {"1KiB", bytes.Repeat([]byte("x"), 1<<10)}, {"64KiB", bytes.Repeat([]byte("x"), 64<<10)}} {
		b.Run(size.name, func(b *testing.B) {
			const target = "/api/v5/requests?limit=50&cursor=abc"
			signature := sign.V5(gatewaySecret, "GET", target, now, "", size.body)
			b.ReportAllocs()
			for b.Loop() {
				if !sign.VerifyV5(gatewaySecret, "GET", target, now, "", size.body, signature) {
					b.Fatalf("VerifyV5 of the right signature %s: got false, want true", signature)
				}
			}
		})
	}
}

func BenchmarkVerifyLegacy(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1<<10)
	signature := sign.Legacy(projectSecret, body)
	b.ReportAllocs()
	for b.Loop() {
		if !sign.VerifyLegacy(projectSecret, body, signature) {
			b.Fatalf("VerifyLegacy of the right signature %s: got false, want true", signature)
		}
	}
}

func BenchmarkVerifyWebhook(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1<<10)
	secrets := []string{newSecret, projectSecret}
	header, err := sign.Webhook(secrets, "msg_1", now, body)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := sign.VerifyWebhook(secrets, "msg_1", now, body, header); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckTimestamp(b *testing.B) {
	at := time.Unix(1767225600, 0)
	b.ReportAllocs()
	for b.Loop() {
		if sign.CheckTimestamp(now, at, sign.DefaultSkew).Freshness != sign.Fresh {
			b.Fatalf("CheckTimestamp(%s) at %s: got a result that is not fresh, want %s", now, at, sign.Fresh)
		}
	}
}
