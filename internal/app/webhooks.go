package app

import (
	"time"

	"parley/internal/webhook"
	"parley/internal/webhook/post"
	"parley/internal/webhook/sender"
)

// wireWebhooks builds the recorder and the sender of webhooks for events of rooms,
// projects and credentials.
func (a *App) wireWebhooks(now func() time.Time) error {
	prefixes, hosts, err := a.cfg.WebhookAllowed()
	if err != nil {
		return err
	}
	poster := post.New(post.Guard{AllowPrivate: a.cfg.WebhookAllowPrivate, Prefixes: prefixes, Hosts: hosts})
	a.webhooks = webhook.NewService(a.db, now, newID)
	a.sender = sender.NewService(a.db, a.webhooks, a.keys, poster, now, newID, a.log)
	a.rooms.UseWebhooks(a.webhooks)
	a.projects.SetEventRecorder(a.webhooks.ProjectChanged)
	a.keys.SetEventRecorder(a.webhooks.ProjectChanged)
	return nil
}
