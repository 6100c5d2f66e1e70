package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"parley/internal/api/manage"
	"parley/internal/plural"
	"parley/internal/shell"
)

type webhookCommands struct {
	List    webhookList    `cmd:"" help:"List deliveries, the newest first."`
	Show    webhookShow    `cmd:"" help:"Show a delivery and its attempts."`
	Replay  webhookReplay  `cmd:"" help:"Replay deliveries that the server still keeps (--retention-deliveries)."`
	Retry   webhookRetry   `cmd:"" help:"Send pending deliveries now, without waiting for their next attempt."`
	Test    webhookTest    `cmd:"" help:"Send a test event to a project's target."`
	Targets webhookTargets `cmd:"" help:"List targets that fail or are paused."`
	Pause   webhookPause   `cmd:"" help:"Pause a target, so that its deliveries wait."`
	Resume  webhookResume  `cmd:"" help:"Resume a paused target."`
	Listen  webhookListen  `cmd:"" help:"Receive, verify and print webhooks on a local port."`
}

type webhookList struct {
	lister
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project whose deliveries are listed."`
	Room    string `placeholder:"ID" refers:"room" help:"ID, or unique client_room_id, of the room whose deliveries are listed."`
	Event   string `placeholder:"ID" help:"ID of the event whose deliveries are listed."`
	Target  string `placeholder:"URL" help:"URL, or its beginning, to which the listed deliveries go, such as https://example.org."`
	State   string `enum:",pending,delivered,failed,gone" default:"" placeholder:"STATE" help:"State of the listed deliveries: pending, delivered, failed or gone."`
	Since   moment `placeholder:"TIME" help:"Time of the oldest delivery that is listed, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Before  moment `placeholder:"TIME" help:"Time before which the listed deliveries were created, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Limit   int    `placeholder:"N" help:"Maximum number of deliveries, the newest first. Default: all."`
}

// Run lists the deliveries.
func (c webhookList) Run(ctx context.Context, s *streams) error {
	if c.Limit < 0 {
		return usageError{fmt.Errorf("--limit must be 1 or more, not %d", c.Limit)}
	}
	all, err := c.fetch(ctx)
	if err != nil || c.structured() {
		return printItems(s, c.lister, all, err, "body", "attempts")
	}
	var rows [][]string
	for _, d := range all {
		rows = append(rows, []string{d.DeliveryId, d.Type, strconv.FormatInt(d.Sequence, 10), deliveryState(d),
			strconv.Itoa(d.AttemptCount), formatTime(&d.CreatedAt), formatTime(d.NextAttemptAt), d.RoomId, d.Url})
	}
	return printTable(s.out, []string{"DELIVERY", "TYPE", "SEQUENCE", "STATE", "ATTEMPTS", "CREATED", "NEXT ATTEMPT",
		"ROOM", "URL"}, rows)
}

// deliveryState returns the state of a delivery, whether its target is paused, and whether it is a replay.
func deliveryState(d manage.Webhook) string {
	state := string(d.State)
	if d.Held {
		state = "on hold"
	}
	if d.Replay {
		state += " (replay)"
	}
	return state
}

// fetch reads all pages, up to the limit.
func (c webhookList) fetch(ctx context.Context) ([]manage.Webhook, error) {
	q := queryOf(map[string]string{"project_id": c.Project, "room_id": c.Room, "event_id": c.Event, "url": c.Target,
		"state": c.State, "since": string(c.Since), "before": string(c.Before)})
	return fetchPages(ctx, c.manager, "/webhooks", q, c.Limit, func(p manage.WebhookList) ([]manage.Webhook, *string) {
		return p.Webhooks, p.NextCursor
	})
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
		"created", formatTime(&d.CreatedAt), "done", formatTime(d.DoneAt), "next attempt", formatTime(d.NextAttemptAt),
		"body", *d.Body); err != nil {
		return err
	}
	var rows [][]string
	for _, a := range *d.Attempts {
		result, status := a.Error, "" // without a response
		if result == "" {
			result = a.Answer
		}
		if a.Status != 0 {
			status = strconv.Itoa(a.Status)
		}
		rows = append(rows, []string{strconv.Itoa(a.N), formatTime(&a.At),
			(time.Duration(a.DurationMs) * time.Millisecond).String(), status, result})
	}
	if len(rows) == 0 {
		return nil
	}
	return printTable(s.out, []string{"ATTEMPT", "AT", "TOOK", "STATUS", "ANSWER"}, rows)
}

type webhookReplay struct {
	manager
	irreversible
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project. Default: that of the event or the room."`
	Event   string `placeholder:"ID" help:"ID of the event to replay."`
	Room    string `placeholder:"ID" refers:"room" help:"ID, or unique client_room_id, of the room whose events are replayed."`
	Since   moment `placeholder:"TIME" help:"Start of the period to replay, such as yesterday or 24h (ago); needs --before."`
	Before  moment `placeholder:"TIME" help:"End of the period to replay, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Target  string `placeholder:"URL" help:"URL of the only target to replay to."`
	State   string `enum:",failed,gone,delivered" default:"" placeholder:"STATE" help:"State of the deliveries to replay: failed, gone or delivered. Default: all three."`
}

// Run replays the deliveries.
func (c webhookReplay) Run(ctx context.Context, s *streams) error {
	if c.Event+c.Room == "" && (c.Since == "" || c.Before == "") {
		return usageError{errors.New("--event, --room, or both --since and --before are required")}
	}
	if c.Project == "" {
		var err error
		if c.Project, err = c.findProject(ctx); err != nil {
			return err
		}
	}
	q := manage.WebhookReplay{
		ProjectId: c.Project,
		EventId:   optionalString(c.Event),
		RoomId:    optionalString(c.Room),
		Since:     optionalString(string(c.Since)),
		Before:    optionalString(string(c.Before)),
		Url:       optionalString(c.Target),
	}
	if c.State != "" {
		q.State = new(manage.WebhookReplayState(c.State))
	}
	if ok, err := c.proceed(s, c.JSON, func() (string, error) {
		return c.describe(), nil
	}); !ok {
		return err
	}
	done, err := callWithTimeout[manage.WebhookReplayed](ctx, c.manager, "POST", "/webhook-replays", q, 0)
	if err != nil || c.JSON {
		return s.printResult(done, err)
	}
	_, err = fmt.Fprintf(s.out, "Enqueued %s, marked as a replay.\n",
		plural.Count(done.Enqueued, "delivery", "deliveries"))
	return err
}

// findProject returns the ID of the project that the room or the event belongs to.
func (c webhookReplay) findProject(ctx context.Context) (string, error) {
	switch {
	case c.Room != "":
		r, err := callManagement[manage.Room](ctx, c.manager, "GET", apiPath("/rooms/%s", c.Room), nil)
		return r.ProjectId, err
	case c.Event != "":
		found, err := webhookList{lister: lister{manager: c.manager}, Event: c.Event, Limit: 1}.fetch(ctx)
		if err == nil && len(found) == 0 {
			err = errors.New("the server keeps no delivery of this event: parley webhook list shows the kept ones")
		}
		if err != nil {
			return "", err
		}
		return found[0].ProjectId, nil
	}
	return "", usageError{errors.New("--project is required with --since and --before, unless --event or --room is given")}
}

// describe returns what the replay does.
func (c webhookReplay) describe() string {
	effect := "send again the deliveries of project " + c.Project
	if c.State != "" {
		effect = "send again the " + c.State + " deliveries of project " + c.Project
	}
	for _, part := range []struct{ text, value string }{{" of event ", c.Event}, {" of room ", c.Room},
		{" created since ", string(c.Since)}, {" and before ", string(c.Before)}, {" to ", c.Target}} {
		if part.value != "" {
			effect += part.text + part.value
		}
	}
	return effect + ". The receiver may have handled them already"
}

type webhookRetry struct {
	manager
	Delivery string `placeholder:"ID" help:"ID of the delivery."`
	Project  string `placeholder:"ID" refers:"project" help:"ID or unique name of the project whose deliveries are retried."`
	Target   string `placeholder:"URL" help:"URL of the target whose deliveries are retried; a --url with a path is used as the target."`
	Since    moment `placeholder:"TIME" help:"Time of the oldest delivery that is retried, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
	Before   moment `placeholder:"TIME" help:"Time before which the retried deliveries were created, such as \"yesterday 10:05\" in UTC, or 24h for 24 hours ago."`
}

// Run retries the deliveries.
func (c webhookRetry) Run(ctx context.Context, s *streams) error {
	if c.Delivery+c.Project+c.Target == "" && (c.Since == "" || c.Before == "") {
		return usageError{errors.New("--delivery, --project, --target, or both --since and --before are required")}
	}
	q := manage.WebhookRetry{
		DeliveryId: optionalString(c.Delivery),
		ProjectId:  optionalString(c.Project),
		Url:        optionalString(c.Target),
		Since:      optionalString(string(c.Since)),
		Before:     optionalString(string(c.Before)),
	}
	done, err := callManagement[manage.WebhookRetried](ctx, c.manager, "POST", "/webhook-retries", q)
	if err != nil || c.JSON {
		return s.printResult(done, err)
	}
	_, err = fmt.Fprintf(s.out, "%s in %s: the first of each is sent now, the others follow in order.\n",
		plural.Count(done.Retried, "pending delivery", "pending deliveries"),
		plural.Count(done.Queues, "queue", "queues"))
	return err
}

// AfterApply is kong's hook before the command makes a request. It makes --url the target if it
// has a path, because the URL of a server has none and a target must not get the token of the
// server. The server is then that of the environment.
func (c *webhookRetry) AfterApply() error {
	if !hasPath(c.URL) {
		return nil
	}
	server := os.Getenv("PARLEY_URL")
	if c.Target != "" || hasPath(server) {
		return usageError{fmt.Errorf("--url (PARLEY_URL) must be the URL of the server, which has no path, not %s", c.URL)}
	}
	c.Target, c.URL = c.URL, server
	return nil
}

// hasPath reports whether a URL has a path other than /.
func hasPath(text string) bool {
	u, err := url.Parse(text)
	return err == nil && strings.Trim(u.Path, "/") != ""
}

type webhookTest struct {
	manager
	ID string `arg:"" name:"project-id" refers:"project" help:"ID or unique name of the project."`
}

// Run sends the test event.
func (c webhookTest) Run(ctx context.Context, s *streams) error {
	sent, err := callManagement[manage.WebhookTest](ctx, c.manager, "POST",
		apiPath("/projects/%s/webhook-test", c.ID), nil)
	if err != nil || c.JSON {
		return s.printResult(sent, err)
	}
	_, err = fmt.Fprintf(s.out, "Enqueued a test event. To see its delivery, run\n"+
		"  parley webhook list --project %s --event %s\n", c.ID, sent.EventId)
	return err
}

type webhookTargets struct {
	lister
	Project string `placeholder:"ID" refers:"project" help:"ID or unique name of the project whose targets are listed."`
}

// Run lists the targets.
func (c webhookTargets) Run(ctx context.Context, s *streams) error {
	targets, err := fetchPages(ctx, c.manager, "/webhook-targets", queryOf(map[string]string{"project_id": c.Project}), 0,
		func(p manage.WebhookTargetList) ([]manage.WebhookTarget, *string) { return p.Targets, p.NextCursor })
	if err != nil || c.structured() {
		return printItems(s, c.lister, targets, err)
	}
	var rows [][]string
	for _, t := range targets {
		rows = append(rows, []string{t.Url, strconv.Itoa(t.Failures), formatTime(&t.FailingSince),
			formatTime(t.PausedAt), formatTime(t.ProbeAt), t.Notice, t.ProjectId})
	}
	return printTable(s.out, []string{"TARGET", "FAILURES", "SINCE", "PAUSED", "TRIED AGAIN", "NOTICE", "PROJECT"},
		rows)
}

type webhookPause struct {
	manager
	ID     string `arg:"" name:"project-id" refers:"project" help:"ID or unique name of the project."`
	Target string `arg:"" help:"URL of the target."`
}

// Run pauses the target.
func (c webhookPause) Run(ctx context.Context, s *streams) error {
	list, err := callManagement[manage.WebhookTargetList](ctx, c.manager, "POST",
		apiPath("/projects/%s/webhook-pause", c.ID), manage.WebhookPause{Url: c.Target})
	if err != nil || c.JSON {
		return s.printResult(list.Targets, err)
	}
	_, err = fmt.Fprintf(s.out, "Paused the target. Its deliveries wait until you resume it:\n"+
		"  parley webhook resume %s %s\n", c.ID, shell.Quote(c.Target))
	return err
}

type webhookResume struct {
	manager
	ID     string `arg:"" name:"project-id" refers:"project" help:"ID or unique name of the project."`
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
