package cli

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"parley/internal/api/manage"
)

type webhookCommands struct {
	List    webhookList    `cmd:"" help:"List deliveries, the newest first."`
	Show    webhookShow    `cmd:"" help:"Show a delivery and its attempts."`
	Replay  webhookReplay  `cmd:"" help:"Send again what was sent in the last 30 days."`
	Test    webhookTest    `cmd:"" help:"Send a test to a project's target."`
	Targets webhookTargets `cmd:"" help:"List targets that fail or are paused."`
	Resume  webhookResume  `cmd:"" help:"Try a paused target again."`
	Listen  webhookListen  `cmd:"" help:"Print and verify what arrives at a local port."`
}

type webhookList struct {
	manager
	Project string `placeholder:"ID" help:"Only those of this project."`
	Room    string `placeholder:"ID" help:"Only those of this room."`
	Event   string `placeholder:"ID" help:"Only those of this event."`
	State   string `enum:",pending,delivered,failed,gone" default:"" placeholder:"STATE" help:"Only those in this state: pending, delivered, failed or gone."`
	Limit   int    `placeholder:"N" help:"Only the newest N. Default: all."`
}

// Run implements the command.
func (c webhookList) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 1 or more, not %d", c.Limit)}
	}
	all, err := c.fetch(ctx)
	if err != nil || c.JSON {
		return s.json(all, err)
	}
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.DeliveryId, d.Type, strconv.FormatInt(d.Sequence, 10), state(d), strconv.Itoa(d.AttemptCount), at(&d.CreatedAt), d.RoomId, d.Url})
	}
	return table(s.out, []string{"DELIVERY", "TYPE", "SEQUENCE", "STATE", "ATTEMPTS", "CREATED", "ROOM", "URL"}, rows)
}

// state says of a delivery too that it is a replay.
func state(d manage.Webhook) string {
	if d.Replay {
		return string(d.State) + " (replay)"
	}
	return string(d.State)
}

// fetch follows the pages to their end, or to the limit.
func (c webhookList) fetch(ctx context.Context) ([]manage.Webhook, error) {
	all := []manage.Webhook{}
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for name, value := range map[string]string{"project_id": c.Project, "room_id": c.Room, "event_id": c.Event, "state": c.State} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for {
		page, err := call[manage.WebhookList](ctx, c.manager, "GET", "/webhooks?"+q.Encode(), nil)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Webhooks...)
		if c.Limit > 0 && len(all) >= c.Limit {
			return all[:c.Limit], nil
		}
		if page.NextCursor == nil {
			return all, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

type webhookShow struct {
	manager
	ID string `arg:"" help:"The delivery."`
}

// Run implements the command.
func (c webhookShow) Run(ctx context.Context, s *streams) error {
	d, err := call[manage.Webhook](ctx, c.manager, "GET", path("/webhooks/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.json(d, err)
	}
	if err := fields(s.out, "delivery", d.DeliveryId, "event", d.EventId, "type", d.Type, "project", d.ProjectId, "room", d.RoomId, "url", d.Url,
		"sequence", fmt.Sprintf("%d, after %d", d.Sequence, d.Previous), "state", state(d), "created", at(&d.CreatedAt), "done", at(d.DoneAt),
		"body", *d.Body); err != nil {
		return err
	}
	var rows [][]string
	for _, a := range *d.Attempts {
		said := a.Error
		if said == "" {
			said = a.Answer
		}
		rows = append(rows, []string{strconv.Itoa(a.N), at(&a.At), (time.Duration(a.DurationMs) * time.Millisecond).String(), strconv.Itoa(a.Status), said})
	}
	if len(rows) == 0 {
		return nil
	}
	return table(s.out, []string{"ATTEMPT", "AT", "TOOK", "STATUS", "ANSWER"}, rows)
}

type webhookReplay struct {
	manager
	Project string `required:"" placeholder:"ID" help:"The project."`
	Event   string `placeholder:"ID" help:"This event."`
	Room    string `placeholder:"ID" help:"What happened in this room."`
	Since   string `placeholder:"TIME" help:"What happened from this RFC 3339 time on; with --before."`
	Before  string `placeholder:"TIME" help:"And before this one."`
	Target  string `placeholder:"URL" help:"Only what went to this target."`
}

// Run implements the command.
func (c webhookReplay) Run(ctx context.Context, s *streams) error {
	q := manage.WebhookReplay{ProjectId: c.Project, EventId: given(c.Event), RoomId: given(c.Room), Since: given(c.Since), Before: given(c.Before), Url: given(c.Target)}
	done, err := call[manage.WebhookReplayed](ctx, c.manager, "POST", "/webhook-replays", q)
	if err != nil || c.JSON {
		return s.json(done, err)
	}
	_, err = fmt.Fprintf(s.out, "%s on the way again, marked as a replay.\n", count(done.Enqueued, "delivery is", "deliveries are"))
	return err
}

// given is nil for what was not given.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type webhookTest struct {
	manager
	ID string `arg:"" name:"project-id" help:"The project."`
}

// Run implements the command.
func (c webhookTest) Run(ctx context.Context, s *streams) error {
	sent, err := call[manage.WebhookTest](ctx, c.manager, "POST", path("/projects/%s/webhook-test", c.ID), nil)
	if err != nil || c.JSON {
		return s.json(sent, err)
	}
	_, err = fmt.Fprintf(s.out, "A test is on its way. What became of it:\n  parley webhook list --event %s\n", sent.EventId)
	return err
}

type webhookTargets struct {
	manager
	Project string `placeholder:"ID" help:"Only those of this project."`
}

// Run implements the command.
func (c webhookTargets) Run(ctx context.Context, s *streams) error {
	list, err := call[manage.WebhookTargetList](ctx, c.manager, "GET", "/webhook-targets?"+url.Values{"project_id": {c.Project}}.Encode(), nil)
	if err != nil || c.JSON {
		return s.json(list.Targets, err)
	}
	var rows [][]string
	for _, t := range list.Targets {
		rows = append(rows, []string{t.Url, strconv.Itoa(t.Failures), at(&t.FailingSince), at(t.PausedAt), at(t.ProbeAt), t.Notice, t.ProjectId})
	}
	return table(s.out, []string{"TARGET", "FAILURES", "SINCE", "PAUSED", "TRIED AGAIN", "NOTICE", "PROJECT"}, rows)
}

type webhookResume struct {
	manager
	ID     string `arg:"" name:"project-id" help:"The project."`
	Target string `arg:"" help:"The paused target."`
}

// Run implements the command.
func (c webhookResume) Run(ctx context.Context, s *streams) error {
	list, err := call[manage.WebhookTargetList](ctx, c.manager, "POST", path("/projects/%s/webhook-resume", c.ID), manage.WebhookResumption{Url: c.Target})
	if err != nil || c.JSON {
		return s.json(list.Targets, err)
	}
	_, err = fmt.Fprintln(s.out, "The target is tried again, with all that waits for it.")
	return err
}
