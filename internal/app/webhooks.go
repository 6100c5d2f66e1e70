package app

import (
	"time"

	"parley/internal/webhook"
	"parley/internal/webhook/post"
)

// wireWebhooks has what happens to rooms, projects and credentials delivered.
func (a *App) wireWebhooks(now func() time.Time) error {
	prefixes, hosts, err := a.cfg.WebhookAllowed()
	if err != nil {
		return err
	}
	sender := post.New(post.Guard{AllowPrivate: a.cfg.WebhookAllowPrivate, Prefixes: prefixes, Hosts: hosts})
	a.hooks = webhook.NewService(a.db, a.keys, sender, now, newID, a.log)
	a.rooms.UseWebhooks(a.hooks)
	a.projects.Tell(a.hooks.ProjectChanged)
	a.keys.Tell(a.hooks.ProjectChanged)
	return nil
}
