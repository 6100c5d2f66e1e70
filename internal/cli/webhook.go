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
	Replay  webhookReplay  `cmd:"" help:"Replay deliveries of the last 30 days."`
	Test    webhookTest    `cmd:"" help:"Send a test event to a project's target."`
	Targets webhookTargets `cmd:"" help:"List targets that fail or are paused."`
	Resume  webhookResume  `cmd:"" help:"Resume a paused target."`
	Listen  webhookListen  `cmd:"" help:"Receive, verify and print webhooks on a local port."`
}

type webhookList struct {
	manager
	Project string `placeholder:"ID" help:"ID of the project whose deliveries are listed."`
	Room    string `placeholder:"ID" help:"ID of the room whose deliveries are listed."`
	Event   string `placeholder:"ID" help:"ID of the event whose deliveries are listed."`
	State   string `enum:",pending,delivered,failed,gone" default:"" placeholder:"STATE" help:"State of the listed deliveries: pending, delivered, failed or gone."`
	Limit   int    `placeholder:"N" help:"Maximum number of deliveries, the newest first. Default: all."`
}

// Run lists the deliveries.
func (c webhookList) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 1 or more, not %d", c.Limit)}
	}
	all, err := c.fetch(ctx)
	if err != nil || c.JSON {
		return s.printResult(all, err)
	}
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.DeliveryId, d.Type, strconv.FormatInt(d.Sequence, 10), deliveryState(d),
			strconv.Itoa(d.AttemptCount), formatTime(&d.CreatedAt), d.RoomId, d.Url})
	}
	return printTable(s.out, []string{"DELIVERY", "TYPE", "SEQUENCE", "STATE", "ATTEMPTS", "CREATED", "ROOM", "URL"},
		rows)
}

// deliveryState returns the state of a delivery, and whether it is a replay.
func deliveryState(d manage.Webhook) string {
	if d.Replay {
		return string(d.State) + " (replay)"
	}
	return string(d.State)
}

// fetch reads all pages, up to the limit.
func (c webhookList) fetch(ctx context.Context) ([]manage.Webhook, error) {
	all := []manage.Webhook{}
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for name, value := range map[string]string{
		"project_id": c.Project, "room_id": c.Room, "event_id": c.Event, "state": c.State,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for {
		page, err := callManagement[manage.WebhookList](ctx, c.manager, "GET", "/webhooks?"+q.Encode(), nil)
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
	ID string `arg:"" help:"ID of the delivery."`
}

// Run prints the delivery and its attempts.
func (c webhookShow) Run(ctx context.Context, s *streams) error {
	d, err := callManagement[manage.Webhook](ctx, c.manager, "GET", apiPath("/webhooks/%s", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(d, err)
	}
	if err := printFields(s.out, "delivery", d.DeliveryId, "event", d.EventId, "type", d.Type,
		"project", d.ProjectId, "room", d.RoomId, "url", d.Url,
		"sequence", fmt.Sprintf("%d, after %d", d.Sequence, d.Previous), "state", deliveryState(d),
		"created", formatTime(&d.CreatedAt), "done", formatTime(d.DoneAt), "body", *d.Body); err != nil {
		return err
	}
	var rows [][]string
	for _, a := range *d.Attempts {
		result := a.Error
		if result == "" {
			result = a.Answer
		}
		rows = append(rows, []string{strconv.Itoa(a.N), formatTime(&a.At),
			(time.Duration(a.DurationMs) * time.Millisecond).String(), strconv.Itoa(a.Status), result})
	}
	if len(rows) == 0 {
		return nil
	}
	return printTable(s.out, []string{"ATTEMPT", "AT", "TOOK", "STATUS", "ANSWER"}, rows)
}

type webhookReplay struct {
	manager
	Project string `required:"" placeholder:"ID" help:"ID of the project."`
	Event   string `placeholder:"ID" help:"ID of the event to replay."`
	Room    string `placeholder:"ID" help:"ID of the room whose events are replayed."`
	Since   string `placeholder:"TIME" help:"Start of the period to replay, an RFC 3339 time; needs --before."`
	Before  string `placeholder:"TIME" help:"End of the period to replay, an RFC 3339 time."`
	Target  string `placeholder:"URL" help:"URL of the only target to replay to."`
}

// Run replays the deliveries.
func (c webhookReplay) Run(ctx context.Context, s *streams) error {
	q := manage.WebhookReplay{ProjectId: c.Project, EventId: optionalString(c.Event), RoomId: optionalString(c.Room),
		Since: optionalString(c.Since), Before: optionalString(c.Before), Url: optionalString(c.Target)}
	done, err := callManagement[manage.WebhookReplayed](ctx, c.manager, "POST", "/webhook-replays", q)
	if err != nil || c.JSON {
		return s.printResult(done, err)
	}
	_, err = fmt.Fprintf(s.out, "Enqueued %s, marked as a replay.\n",
		pluralize(done.Enqueued, "delivery", "deliveries"))
	return err
}

// optionalString returns nil for an empty string.
func optionalString(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

type webhookTest struct {
	manager
	ID string `arg:"" name:"project-id" help:"ID of the project."`
}

// Run sends the test event.
func (c webhookTest) Run(ctx context.Context, s *streams) error {
	sent, err := callManagement[manage.WebhookTest](ctx, c.manager, "POST",
		apiPath("/projects/%s/webhook-test", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(sent, err)
	}
	_, err = fmt.Fprintf(s.out, "Enqueued a test event. To see its delivery, run\n  parley webhook list --event %s\n",
		sent.EventId)
	return err
}

type webhookTargets struct {
	manager
	Project string `placeholder:"ID" help:"ID of the project whose targets are listed."`
}

// Run lists the targets.
func (c webhookTargets) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.WebhookTargetList](ctx, c.manager, "GET",
		"/webhook-targets?"+url.Values{"project_id": {c.Project}}.Encode(), nil)
	if err != nil || c.JSON {
		return s.printResult(list.Targets, err)
	}
	var rows [][]string
	for _, t := range list.Targets {
		rows = append(rows, []string{t.Url, strconv.Itoa(t.Failures), formatTime(&t.FailingSince),
			formatTime(t.PausedAt), formatTime(t.ProbeAt), t.Notice, t.ProjectId})
	}
	return printTable(s.out, []string{"TARGET", "FAILURES", "SINCE", "PAUSED", "TRIED AGAIN", "NOTICE", "PROJECT"},
		rows)
}

type webhookResume struct {
	manager
	ID     string `arg:"" name:"project-id" help:"ID of the project."`
	Target string `arg:"" help:"URL of the paused target."`
}

// Run resumes the target.
func (c webhookResume) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.WebhookTargetList](ctx, c.manager, "POST",
		apiPath("/projects/%s/webhook-resume", c.ID), manage.WebhookResumption{Url: c.Target})
	if err != nil || c.JSON {
		return s.printResult(list.Targets, err)
	}
	_, err = fmt.Fprintln(s.out, "Resumed the target. The waiting deliveries are sent now.")
	return err
}
