package app

import (
	"context"
	"errors"
	"time"

	"parley.example/client/sign"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/room"
)

// signedLinks verifies join links with the live secrets of their project.
type signedLinks struct {
	keys *key.Service
	now  func() time.Time
}

// Verify implements room.SignedLinks.
func (l signedLinks) Verify(ctx context.Context, projectID, token string) (room.SignedLink, bool, error) {
	keyring, err := l.keys.Keyring(ctx, projectID)
	if fault.Is(err, fault.NotFound) {
		return room.SignedLink{}, false, nil
	}
	if err != nil {
		return room.SignedLink{}, false, err
	}
	link, err := sign.VerifyJoinLink(keyring.LiveProjectSecrets(l.now()), token)
	switch {
	case errors.Is(err, sign.ErrJoinLink):
		return room.SignedLink{}, false, nil
	case err != nil:
		return room.SignedLink{}, true, fault.New(fault.Invalid, "invalid_link", "%v", err)
	}
	return room.SignedLink{
		RoomID:    link.RoomID,
		Role:      room.Role(link.Role),
		Name:      link.Name,
		UserID:    link.UserID,
		SingleUse: link.SingleUse,
		IssuedAt:  link.IssuedAt,
		ExpiresAt: link.ExpiresAt,
	}, true, nil
}
