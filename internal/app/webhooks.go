package app

import (
	"time"

	"parley/internal/metrics"
	"parley/internal/webhook"
	"parley/internal/webhook/post"
	"parley/internal/webhook/sender"
)

// wireSender builds the sender of webhooks. An isolated service has none.
func (a *App) wireSender(now func() time.Time) error {
	if a.isolated {
		return nil
	}
	prefixes, hosts, err := a.cfg.WebhookAllowed()
	if err != nil {
		return err
	}
	poster := post.New(post.Guard{AllowPrivate: a.cfg.WebhookAllowPrivate, Prefixes: prefixes, Hosts: hosts})
	a.sender = sender.NewService(a.db, a.webhooks, a.keys, poster, now, newID, a.log,
		sender.WithAttemptObserver(func(state webhook.State, took time.Duration) {
			a.metrics.Webhooks.Attempted(attemptOutcome(state), took)
		}),
		sender.WithSweepObserver(func(err error) { a.tasks.record(taskWebhooks, err) })) // the sender logs its errors
	return nil
}

// attemptOutcome returns the outcome of an attempt in the metrics, by the state of its delivery
// after it.
func attemptOutcome(state webhook.State) string {
	switch state {
	case webhook.Delivered:
		return metrics.AttemptDelivered
	case webhook.Failed:
		return metrics.AttemptFailed
	case webhook.Gone:
		return metrics.AttemptGone
	}
	return metrics.AttemptRetried
}
