package client

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"reflect"
	"time"

	"parley.example/client/sign"
)

// JoinLinkRequest describes a link that SignJoinLink signs.
type JoinLinkRequest struct {
	RoomID string
	// Role is "host", "cohost" or "guest"; empty means "guest".
	Role string
	// Name is the display name that the page fills in, at most 255 characters. Optional.
	Name string
	// UserID is your own id for the person, at most 255 characters. A second browser
	// with a link of the same person takes the seat over. Optional.
	UserID string
	// SingleUse admits only the first browser that joins with the link. A link for a host or
	// co-host always does.
	SingleUse bool
	// ExpiresIn is how long the link may wait for its first use, up to 24 hours; 0 means
	// one hour.
	ExpiresIn time.Duration
}

const defaultJoinLinkAge = time.Hour

// SignJoinLink returns a link into a room, signed with the project secret. It makes no
// call, so that it works without the server, for instance in a page that lists many
// rooms. The base URL of the client must be the address that browsers use. The server
// checks the link when it is used. The errors are
// ErrMissingCredential and ErrInvalidArgument.
func (c *Client) SignJoinLink(link JoinLinkRequest) (string, error) {
	if c.credentials.ProjectSecret == "" {
		return "", missingCredential("ProjectSecret")
	}
	segment, err := roomPathSegment(link.RoomID)
	if err != nil {
		return "", err
	}
	if err := checkTexts("", reflect.ValueOf(link)); err != nil {
		return "", err
	}
	issued := time.Now().Add(c.clock.currentOffset())
	token, err := sign.SignJoinLink(c.credentials.ProjectSecret, sign.JoinLink{
		RoomID:    link.RoomID,
		Role:      cmp.Or(link.Role, sign.RoleGuest),
		Name:      link.Name,
		UserID:    link.UserID,
		SingleUse: link.SingleUse,
		ID:        rand.Text(),
		IssuedAt:  issued,
		ExpiresAt: issued.Add(cmp.Or(link.ExpiresIn, defaultJoinLinkAge)),
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalidArgument, err)
	}
	return c.base + "/r/" + segment + "#j=" + token, nil
}
