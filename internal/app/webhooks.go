package app

import (
	"time"

	"parley/internal/webhook"
	"parley/internal/webhook/post"
)

// wireWebhooks builds the webhook service, which delivers events of rooms,
// projects and credentials.
func (a *App) wireWebhooks(now func() time.Time) error {
	prefixes, hosts, err := a.cfg.WebhookAllowed()
	if err != nil {
		return err
	}
	sender := post.New(post.Guard{AllowPrivate: a.cfg.WebhookAllowPrivate, Prefixes: prefixes, Hosts: hosts})
	a.webhooks = webhook.NewService(a.db, a.keys, sender, now, newID, a.log)
	a.rooms.UseWebhooks(a.webhooks)
	a.projects.SetEventRecorder(a.webhooks.ProjectChanged)
	a.keys.SetEventRecorder(a.webhooks.ProjectChanged)
	return nil
}
