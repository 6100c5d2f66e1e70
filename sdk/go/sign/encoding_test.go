package sign_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// must returns the bytes of a decoder that is fed with our own texts.
func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func hexToBase64(s string) string {
	return base64.StdEncoding.EncodeToString(must(hex.DecodeString(s)))
}

func base64ToHex(s string) string {
	return hex.EncodeToString(must(base64.StdEncoding.DecodeString(s)))
}

func urlAlphabet(s string) string {
	if !strings.ContainsAny(s, "+/") {
		panic("the text is the same in both alphabets: " + s)
	}
	return strings.NewReplacer("+", "-", "/", "_").Replace(s)
}

func decodedSecret(secret string) []byte {
	return must(base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")))
}
