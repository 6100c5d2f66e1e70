package sign_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"parley.example/client/sign"
)

func joinLink() sign.JoinLink {
	issued := time.Unix(1767225600, 0)
	return sign.JoinLink{
		RoomID:    "0197c1a5-0a0b-7c0d-8e0f-101112131415",
		Role:      sign.RoleHost,
		Name:      "Zoë <&>",
		UserID:    "4711",
		SingleUse: true,
		ID:        "a1",
		IssuedAt:  issued,
		ExpiresAt: issued.Add(time.Hour),
	}
}

func TestJoinLink_RoundTrip(t *testing.T) {
	token, err := sign.SignJoinLink(projectSecret, joinLink())
	if err != nil {
		t.Fatal(err)
	}
	got, err := sign.VerifyJoinLink([]string{newSecret, projectSecret}, token)
	if err != nil || got != joinLink() {
		t.Errorf("got %+v, error %v, want %+v", got, err, joinLink())
	}
	for i := range len(token) {
		changed := changeByte(token, i)
		if _, err := sign.VerifyJoinLink([]string{projectSecret}, changed); err == nil {
			t.Errorf("with another byte at %d: got verified, want refused: %s", i, changed)
		}
	}
	for _, secrets := range [][]string{nil, {""}, {newSecret}} {
		if _, err := sign.VerifyJoinLink(secrets, token); !errors.Is(err, sign.ErrJoinLink) {
			t.Errorf("with the secrets %q: got error %v, want %v", secrets, err, sign.ErrJoinLink)
		}
	}
}

func TestSignJoinLink_Refuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*sign.JoinLink)
		want   error
	}{
		"no room":                   {func(l *sign.JoinLink) { l.RoomID = "" }, sign.ErrJoinLinkIncomplete},
		"another role":              {func(l *sign.JoinLink) { l.Role = "admin" }, sign.ErrJoinLinkRole},
		"single-use without an ID":  {func(l *sign.JoinLink) { l.ID = "" }, sign.ErrJoinLinkIncomplete},
		"a host without an ID":      {func(l *sign.JoinLink) { l.ID, l.SingleUse = "", false }, sign.ErrJoinLinkIncomplete},
		"a room that is not UTF-8":  {func(l *sign.JoinLink) { l.RoomID = "\xff" }, sign.ErrJoinLinkUTF8},
		"a name likewise":           {func(l *sign.JoinLink) { l.Name = "Zo\xeb" }, sign.ErrJoinLinkUTF8},
		"a user ID likewise":        {func(l *sign.JoinLink) { l.UserID = "\xff" }, sign.ErrJoinLinkUTF8},
		"an ID likewise":            {func(l *sign.JoinLink) { l.ID = "\xff" }, sign.ErrJoinLinkUTF8},
		"issued before 1970":        {func(l *sign.JoinLink) { l.IssuedAt = time.Unix(-1<<60, 0) }, sign.ErrJoinLinkTooLong},
		"expired when it is issued": {func(l *sign.JoinLink) { l.ExpiresAt = l.IssuedAt }, sign.ErrJoinLinkTooLong},
		"over a day": {func(l *sign.JoinLink) {
			l.ExpiresAt = l.IssuedAt.Add(sign.MaxJoinLinkAge + time.Second)
		}, sign.ErrJoinLinkTooLong},
	} {
		link := joinLink()
		test.change(&link)
		if _, err := sign.SignJoinLink(projectSecret, link); !errors.Is(err, test.want) {
			t.Errorf("%s: got error %v, want %v", name, err, test.want)
		}
	}
}

// TestVerifyJoinLink_OtherTokens signs tokens that are not join links with the right secret.
func TestVerifyJoinLink_OtherTokens(t *testing.T) {
	const claims = `{"room_id":"r","role":"guest","iat":1,"exp":2}`
	for name, test := range map[string]struct{ header, claims string }{
		"another algorithm": {`{"alg":"HS512"}`, claims},
		"no algorithm":      {`{"alg":"none"}`, claims},
		"a critical header": {`{"alg":"HS256","crit":["b64"],"b64":false}`, claims},
		"a claim for later": {`{"alg":"HS256"}`, `{"room_id":"r","role":"guest","iat":1,"exp":2,"nbf":9}`},
		"no claims":         {`{"alg":"HS256"}`, `[]`},
		"no expiry":         {`{"alg":"HS256"}`, `{"room_id":"r","role":"guest","iat":1}`},
		"a text as expiry":  {`{"alg":"HS256"}`, `{"room_id":"r","role":"guest","iat":1,"exp":"2"}`},
	} {
		signed := base64.RawURLEncoding.EncodeToString([]byte(test.header)) + "." +
			base64.RawURLEncoding.EncodeToString([]byte(test.claims))
		signature := must(base64.StdEncoding.DecodeString(sign.Legacy(projectSecret, []byte(signed))))
		token := signed + "." + base64.RawURLEncoding.EncodeToString(signature)
		if _, err := sign.VerifyJoinLink([]string{projectSecret}, token); err == nil || errors.Is(err, sign.ErrJoinLink) {
			t.Errorf("%s: got error %v, want that of a signed link with a mistake", name, err)
		}
	}
	for _, token := range []string{"", ".", "..", "a.b", "a.b.c.d", strings.Repeat("a", 5000)} {
		if _, err := sign.VerifyJoinLink([]string{projectSecret}, token); !errors.Is(err, sign.ErrJoinLink) {
			t.Errorf("token %.20q: got error %v, want %v", token, err, sign.ErrJoinLink)
		}
	}
}
