package sign

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxJoinLinkAge is the longest time between the issue and the expiry of a signed join
// link.
const MaxJoinLinkAge = 24 * time.Hour

// maxJoinLink bounds the characters of a signed join link.
const maxJoinLink = 4096

// Roles in a JoinLink.
const (
	RoleHost   = "host"
	RoleCoHost = "cohost"
	RoleGuest  = "guest"
)

// JoinLink is what a signed join link says: who may join which room. A backend signs it
// without a call, and the server checks it when it is used.
type JoinLink struct {
	// RoomID is the UUID of the room.
	RoomID string
	// Role is RoleHost, RoleCoHost or RoleGuest.
	Role string
	// Name is the display name that the page fills in, at most 255 characters. Optional.
	Name string
	// UserID is your own id for the person, at most 255 characters. A second browser
	// with a link of the same person takes the seat over. Optional.
	UserID string
	// SingleUse admits only the first browser that joins with the link. A link for a host or
	// co-host is always single-use, so that it gives the role to nobody else.
	SingleUse bool
	// ID distinguishes links that are equal otherwise. Required for a single-use
	// link, and so for each link of a host or co-host.
	ID string
	// IssuedAt and ExpiresAt are full seconds. The expiry is at most MaxJoinLinkAge
	// after the issue. Whoever has joined by then may stay and come back.
	IssuedAt, ExpiresAt time.Time
}

// joinLinkClaims are the claims of the JSON Web Token (RFC 7519).
type joinLinkClaims struct {
	RoomID    string `json:"room_id"`
	Role      string `json:"role"`
	Name      string `json:"name,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	SingleUse bool   `json:"single_use,omitempty"`
	ID        string `json:"jti,omitempty"`
	IssuedAt  int64  `json:"iat"`
	ExpiresAt int64  `json:"exp"`
}

// joinLinkHeader is the only header: HMAC-SHA256 (RFC 7518, section 3.2). A token that
// names another algorithm is not valid.
const joinLinkHeader = `{"alg":"HS256","typ":"JWT"}`

// maxJoinLinkText is how many characters a name and a user ID may have.
const maxJoinLinkText = 255

// Errors of signed join links.
var (
	ErrJoinLinkText       = errors.New("the name and the user ID of a signed join link have at most 255 characters")
	ErrJoinLinkUTF8       = errors.New("a text of a signed join link must be UTF-8")
	ErrJoinLink           = errors.New("not a join link that was signed with this secret")
	ErrJoinLinkForm       = errors.New("a signed join link has the algorithm HS256 and only documented claims")
	ErrJoinLinkTooLong    = errors.New("a signed join link expires after it was issued, at most 24 hours later")
	ErrJoinLinkRole       = errors.New(`the role of a signed join link is "host", "cohost" or "guest"`)
	ErrJoinLinkIncomplete = errors.New("a signed join link needs a room, and an ID if it is single-use")
)

// SignJoinLink returns a signed join link as a JSON Web Token, signed with the project
// secret as it is shown. It goes behind /r/ROOM_ID#j= in the address. The errors are
// ErrJoinLinkText, ErrJoinLinkUTF8, ErrJoinLinkTooLong, ErrJoinLinkRole and ErrJoinLinkIncomplete.
func SignJoinLink(projectSecret string, link JoinLink) (string, error) {
	claims := joinLinkClaims{
		RoomID:    link.RoomID,
		Role:      link.Role,
		Name:      link.Name,
		UserID:    link.UserID,
		SingleUse: link.SingleUse,
		ID:        link.ID,
		IssuedAt:  link.IssuedAt.Unix(),
		ExpiresAt: link.ExpiresAt.Unix(),
	}
	if err := claims.check(); err != nil {
		return "", err
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false) // an escape is longer than its character
	if err := encoder.Encode(claims); err != nil {
		return "", err
	}
	signed := base64.RawURLEncoding.EncodeToString([]byte(joinLinkHeader)) + "." +
		base64.RawURLEncoding.EncodeToString(bytes.TrimSpace(encoded.Bytes()))
	return signed + "." + joinLinkSignature(projectSecret, signed), nil
}

// VerifyJoinLink returns what a signed join link says if it was signed with one of the
// secrets. It does not check the clock: see JoinLink.ExpiresAt. The error is
// ErrJoinLink if it was not; for one that was, it is ErrJoinLinkForm, ErrJoinLinkText,
// ErrJoinLinkTooLong, ErrJoinLinkRole or ErrJoinLinkIncomplete.
func VerifyJoinLink(projectSecrets []string, token string) (JoinLink, error) {
	signed, signature, ok := cutLast(token, ".")
	if !ok || len(token) > maxJoinLink || !isSigned(projectSecrets, signed, signature) {
		return JoinLink{}, ErrJoinLink
	}
	encodedHeader, encodedClaims, _ := strings.Cut(signed, ".")
	var header struct {
		Algorithm string `json:"alg"`
		Type      string `json:"typ"`
	}
	var claims joinLinkClaims
	if decodePart(encodedHeader, &header) != nil || header.Algorithm != "HS256" ||
		decodePart(encodedClaims, &claims) != nil {
		return JoinLink{}, ErrJoinLinkForm
	}
	if err := claims.check(); err != nil {
		return JoinLink{}, err
	}
	return JoinLink{
		RoomID:    claims.RoomID,
		Role:      claims.Role,
		Name:      claims.Name,
		UserID:    claims.UserID,
		SingleUse: claims.isSingleUse(),
		ID:        claims.ID,
		IssuedAt:  time.Unix(claims.IssuedAt, 0),
		ExpiresAt: time.Unix(claims.ExpiresAt, 0),
	}, nil
}

func isSigned(secrets []string, signed, signature string) (valid bool) {
	for _, secret := range secrets {
		if hmac.Equal([]byte(joinLinkSignature(secret, signed)), []byte(signature)) && secret != "" {
			valid = true
		}
	}
	return valid
}

func joinLinkSignature(secret, signed string) string {
	sum := macOf(secret, nil, []byte(signed))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (c joinLinkClaims) isSingleUse() bool { return c.SingleUse || c.Role != RoleGuest }

// isUTF8 reports whether JSON contains the texts as they are.
func (c joinLinkClaims) isUTF8() bool {
	return utf8.ValidString(c.RoomID) && utf8.ValidString(c.ID) && utf8.ValidString(c.Name) && utf8.ValidString(c.UserID)
}

func (c joinLinkClaims) check() error {
	switch {
	case c.Role != RoleHost && c.Role != RoleCoHost && c.Role != RoleGuest:
		return ErrJoinLinkRole
	case c.RoomID == "" || c.isSingleUse() && c.ID == "":
		return ErrJoinLinkIncomplete
	case !c.isUTF8():
		return ErrJoinLinkUTF8
	case utf8.RuneCountInString(c.Name) > maxJoinLinkText || utf8.RuneCountInString(c.UserID) > maxJoinLinkText:
		return ErrJoinLinkText
	case c.IssuedAt <= 0 || c.ExpiresAt <= c.IssuedAt || c.ExpiresAt-c.IssuedAt > int64(MaxJoinLinkAge/time.Second):
		return ErrJoinLinkTooLong
	}
	return nil
}

func decodePart(encoded string, into any) error {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(decoded))
	// A claim such as nbf could restrict the link in a way that nobody would check.
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// cutLast cuts a text around the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+len(separator):], true
}
