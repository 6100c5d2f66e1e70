package app

import (
	"time"

	"parley/internal/webhook/post"
	"parley/internal/webhook/sender"
)

// wireSender builds the sender of webhooks.
func (a *App) wireSender(now func() time.Time) error {
	prefixes, hosts, err := a.cfg.WebhookAllowed()
	if err != nil {
		return err
	}
	poster := post.New(post.Guard{AllowPrivate: a.cfg.WebhookAllowPrivate, Prefixes: prefixes, Hosts: hosts})
	a.sender = sender.NewService(a.db, a.webhooks, a.keys, poster, now, newID, a.log)
	return nil
}
