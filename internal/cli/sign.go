package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"parley.example/client/sign"
	"parley/internal/key"
	"parley/internal/seal"
)

// usesV5Profile reports whether requests to a target are signed with
// SVC-HMAC-V5-1, which includes the time. The creations, the status update and the
// join event of versions 3 and 4 sign only the body.
func usesV5Profile(target string) bool {
	route, _, _ := strings.Cut(target, "?")
	name := route[strings.LastIndexByte(route, '/')+1:]
	switch {
	case strings.HasPrefix(route, "/api/v5/"):
		return true
	case !strings.HasPrefix(route, "/api/v3/") && !strings.HasPrefix(route, "/api/v4/"):
		return false
	}
	created := strings.HasPrefix(name, "create_") && strings.HasSuffix(name, "_room")
	return !created && name != "update_project_status" && !isJoinEvent(target)
}

// message contains the parts of a request that its signature may cover.
type message struct {
	Method         string `arg:"" help:"Method of the request: GET, POST or PUT."`
	Target         string `arg:"" help:"Path and query as in the request line, such as /api/v5/keys."`
	Body           string `help:"Raw body, or @FILE."`
	Timestamp      string `placeholder:"SECONDS" help:"Value of the header timestamp, Unix time in seconds."`
	IdempotencyKey string `placeholder:"KEY" help:"Value of the header Idempotency-Key, if it is sent."`
}

// part is one part of a signed text.
type part struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// signedText is the text that a signature covers, with the keys that may sign it.
type signedText struct {
	Profile string // sign.Profile or bodyProfile
	Parts   []part

	keys   []signingKey // at least one; the first signs
	usesV5 bool
}

// signingKey is a credential that signs a route.
type signingKey struct {
	name   string // description without the credential itself
	value  string
	remark string // where servers refuse a signature with it, a sentence; empty if they accept it
}

const bodyProfile = "Base64 of HMAC-SHA256 over the body alone"

// buildSignedText returns the text and the key of a message's signature with these
// credentials.
func (m message) buildSignedText(c credentials) (signedText, error) {
	body, err := readBody(m.Body)
	if err != nil {
		return signedText{}, err
	}
	if !strings.HasPrefix(m.Target, "/") {
		return signedText{}, usageError{fmt.Errorf("the target must begin with /, such as /api/v5/keys")}
	}
	if !usesV5Profile(m.Target) {
		keys, err := c.bodyKeys(m.Target)
		return signedText{Profile: bodyProfile, keys: keys, Parts: []part{{"body", string(body)}}}, err
	}
	if c.GatewaySecret == "" {
		return signedText{}, usageError{fmt.Errorf("this route needs --gateway-secret")}
	}
	gateway := signingKey{name: "the Gateway secret", value: c.GatewaySecret}
	if c.APIKey != "" {
		gateway.name += " of the API key " + c.maskedKey()
	}
	return signedText{
		Profile: sign.Profile,
		Parts:   v5Parts(m.Method, m.Target, m.Timestamp, signedIdempotencyKey(m.Method, m.IdempotencyKey), string(body)),
		keys:    []signingKey{gateway},
		usesV5:  true,
	}, nil
}

// isJoinEvent reports whether a target is a route for join events, which only the project secret signs.
func isJoinEvent(target string) bool {
	route, _, _ := strings.Cut(target, "?")
	return strings.Contains(route, "/webhook/")
}

// bodyKeys returns the keys that may sign the body of a route, the preferred one first. The error says which
// credentials the route needs.
func (c credentials) bodyKeys(target string) ([]signingKey, error) {
	var keys []signingKey
	if c.ProjectSecret != "" {
		keys = append(keys, signingKey{name: "the project secret", value: c.ProjectSecret})
	}
	if isJoinEvent(target) {
		if keys == nil {
			return nil, usageError{fmt.Errorf("this route needs --project-secret")}
		}
		return keys, nil
	}
	if c.APIKey != "" {
		keys = append(keys, signingKey{name: "the API key " + c.maskedKey(), value: c.APIKey,
			remark: "A project with require_secret_signatures refuses a signature with the API key."})
	}
	if keys == nil {
		return nil, usageError{fmt.Errorf("this route needs --project-secret or --api-key")}
	}
	return keys, nil
}

// signedIdempotencyKey returns the fifth part of the signed text: only a POST is signed with its idempotency key.
func signedIdempotencyKey(method, idempotencyKey string) string {
	if strings.EqualFold(method, http.MethodPost) {
		return idempotencyKey
	}
	return ""
}

// warnUnsignedKey says that an idempotency key has no effect on the signature of a message.
func (m message) warnUnsignedKey(w io.Writer) {
	if usesV5Profile(m.Target) && signedIdempotencyKey(m.Method, m.IdempotencyKey) != m.IdempotencyKey {
		fmt.Fprintln(w, "parley: --idempotency-key is ignored, because only a POST is signed with it")
	}
}

func v5Parts(method, target, timestamp, idempotencyKey, body string) []part {
	return []part{{"profile", sign.Profile}, {"method", strings.ToUpper(method)}, {"target", target},
		{"timestamp", timestamp}, {"idempotency key", idempotencyKey}, {"body", body}}
}

// joinParts returns the signed text.
func joinParts(parts []part) string {
	values := make([]string, len(parts))
	for i, p := range parts {
		values[i] = p.Value
	}
	return strings.Join(values, "\n")
}

// value returns the value of the part with this name; "" if there is none.
func (t signedText) value(name string) string {
	for _, p := range t.Parts {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// signature returns the correct signature with the preferred key.
func (t signedText) signature() string {
	signer := t.keys[0].value
	if !t.usesV5 {
		return sign.Legacy(signer, []byte(t.value("body")))
	}
	return sign.V5(signer, t.value("method"), t.value("target"), t.value("timestamp"),
		t.value("idempotency key"), []byte(t.value("body")))
}

// verify reports whether a signature was made with a key over this text. It does not check the timestamp.
func (t signedText) verify(signer, signature string) bool {
	if !t.usesV5 {
		return sign.VerifyLegacy(signer, []byte(t.value("body")), signature)
	}
	return sign.VerifyV5(signer, t.value("method"), t.value("target"), t.value("timestamp"),
		t.value("idempotency key"), []byte(t.value("body")), signature)
}

// maskedKey returns the masked API key for display.
func (c credentials) maskedKey() string { return key.APIKey{Key: seal.Secret(c.APIKey)}.Masked() }

// print prints the text part by part, with invisible characters escaped.
func (t signedText) print(w io.Writer) {
	if t.usesV5 {
		fmt.Fprintf(w, "Signed text of %s: six parts, separated by line feeds (␊)\n\n", t.Profile)
	} else {
		fmt.Fprintf(w, "Signed text: only the body, byte for byte\n\n")
	}
	for i, p := range t.Parts {
		end := "␊"
		if i == len(t.Parts)-1 {
			end = ""
		}
		shown := escapeInvisible(p.Value)
		if shown == "" {
			shown = "(empty)"
		}
		fmt.Fprintf(w, "  %d  %-15s  %s\n", i+1, p.Name, shown+end)
	}
	fmt.Fprintln(w)
}

// escapeInvisible replaces what a terminal does not show by visible text: control
// characters, trailing spaces, zero-width characters and invalid UTF-8.
func escapeInvisible(text string) string {
	var out strings.Builder
	trimmed := len(strings.TrimRight(text, " "))
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case c == ' ' && i >= trimmed:
			out.WriteRune('␠')
		case c < ' ':
			out.WriteRune('␀' + c)
		case c == 0x7f:
			out.WriteRune('␡')
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c != ' ' && unicode.IsSpace(c):
			fmt.Fprintf(&out, "<U+%04X>", c)
		default:
			out.WriteRune(c)
		}
		i += size
	}
	return out.String()
}

type signCommand struct {
	credentials
	message
	JSON bool `name:"json" help:"JSON output."`
}

// Run prints the signed text and the signature.
func (c signCommand) Run(s *streams) error {
	if err := c.applyQuickstart(false); err != nil {
		return err
	}
	if c.Timestamp == "" {
		c.Timestamp = sign.FormatTimestamp(time.Now())
	}
	t, err := c.buildSignedText(c.credentials)
	if err != nil {
		return err
	}
	headers := [][2]string{{"hash-signature", t.signature()}}
	if t.usesV5 {
		headers = [][2]string{{"timestamp", c.Timestamp}, {"hash-signature", t.signature()}}
		if signed := t.value("idempotency key"); signed != "" {
			headers = append(headers, [2]string{"Idempotency-Key", signed})
		}
	}
	c.warnUnsignedKey(s.err)
	signer := t.keys[0]
	if strings.ContainsAny(signer.value, " \t\r\n") {
		fmt.Fprintf(s.err, "parley: %s contains white space, which is never part of a secret\n", signer.name)
	}
	if c.JSON {
		named := map[string]string{}
		for _, h := range headers {
			named[h[0]] = h[1]
		}
		return printJSON(s.out, struct {
			Profile string            `json:"profile"`
			Key     string            `json:"key"`
			Parts   []part            `json:"parts"`
			Text    string            `json:"text"`
			Headers map[string]string `json:"headers"`
			Remark  string            `json:"remark,omitempty"`
		}{t.Profile, signer.name, t.Parts, joinParts(t.Parts), named, signer.remark})
	}
	t.print(s.out)
	fmt.Fprintf(s.out, "Signed with %s. Headers to send:\n\n", signer.name)
	if t.usesV5 {
		fmt.Fprintf(s.out, "  api-key: %s (masked here, send the whole key)\n", c.maskedKey())
	}
	for _, h := range headers {
		fmt.Fprintf(s.out, "  %s: %s\n", h[0], escapeInvisible(h[1]))
	}
	if signer.remark != "" {
		fmt.Fprintf(s.out, "\n%s\n", signer.remark)
	}
	return nil
}
