package manage

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/webhook"
)

// Webhooks is the part of the webhook service that this API calls.
type Webhooks interface {
	List(ctx context.Context, f webhook.Filter) ([]webhook.Delivery, error)
	Show(ctx context.Context, id string) (webhook.Delivery, []webhook.Attempt, error)
	Replay(ctx context.Context, q webhook.Replay) (int, error)
	Test(ctx context.Context, projectID string) (eventID string, err error)
	Targets(ctx context.Context, projectID string) ([]webhook.Target, error)
	Resume(ctx context.Context, projectID, url string) error
}

// The page size of a list of deliveries.
const defaultWebhooks, maxWebhooks = 50, 100

func (s *server) ListWebhooks(w http.ResponseWriter, r *http.Request) {
	f, limit, err := parseWebhookFilter(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, err)
		return
	}
	all, err := s.webhooks.List(r.Context(), f)
	out := WebhookList{Webhooks: []Webhook{}}
	for _, d := range all[:min(limit, len(all))] {
		out.Webhooks = append(out.Webhooks, delivery(d))
	}
	if len(all) > limit {
		out.NextCursor = &all[limit-1].ID
	}
	writeResult(w, r, out, err)
}

// parseWebhookFilter parses the query of a list. The limit of the filter is one
// higher than the returned limit, so that the handler knows whether another page
// follows.
func parseWebhookFilter(rawQuery string) (f webhook.Filter, limit int, err error) {
	query, err := httpx.Query(rawQuery, "project_id", "room_id", "event_id", "state", "limit", "cursor")
	if err != nil {
		return f, 0, err
	}
	limit = defaultWebhooks
	if text, sent := query["limit"]; sent {
		if limit, err = parseInteger("limit", text); err != nil {
			return f, 0, err
		}
	}
	if limit < 1 || limit > maxWebhooks {
		return f, 0, fault.Invalidf("limit must be between 1 and %d, not %d", maxWebhooks, limit)
	}
	f = webhook.Filter{ProjectID: query["project_id"], RoomID: query["room_id"], EventID: query["event_id"],
		Cursor: query["cursor"], Limit: limit + 1}
	if state, sent := query["state"]; sent {
		f.State = webhook.State(state)
		if !slices.Contains([]webhook.State{webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Gone},
			f.State) {
			return f, 0, fault.Invalidf("state must be pending, delivered, failed or gone, not %q", f.State)
		}
	}
	if f.Cursor != "" && uuid.Validate(f.Cursor) != nil {
		return f, 0, fault.Invalidf("cursor must be the next_cursor of an earlier answer")
	}
	return f, limit, nil
}

func (s *server) GetWebhook(w http.ResponseWriter, r *http.Request, id string) {
	d, attempts, err := s.webhooks.Show(r.Context(), id)
	out := delivery(d)
	out.Body = &d.Body
	all := []WebhookAttempt{}
	for _, a := range attempts {
		all = append(all, WebhookAttempt{N: a.N, At: a.At, DurationMs: a.Duration.Milliseconds(), Status: a.Status,
			Error: a.Error, Answer: a.ResponseBody})
	}
	out.Attempts = &all
	writeResult(w, r, out, err)
}

func (s *server) ReplayWebhooks(w http.ResponseWriter, r *http.Request) {
	q, err := read[WebhookReplay](w, r)
	replay := webhook.Replay{ProjectID: q.ProjectId, EventID: valueOrEmpty(q.EventId), RoomID: valueOrEmpty(q.RoomId),
		URL: valueOrEmpty(q.Url)}
	if err == nil && replay.ProjectID == "" {
		err = fault.Invalidf("project_id is required")
	}
	if err == nil {
		replay.Since, err = parseTime("since", q.Since)
	}
	if err == nil {
		replay.Before, err = parseTime("before", q.Before)
	}
	n := 0
	if err == nil {
		n, err = s.webhooks.Replay(r.Context(), replay)
	}
	writeResult(w, r, WebhookReplayed{Enqueued: n}, err)
}

func parseTime(name string, text *string) (time.Time, error) {
	if text == nil {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		return t, fault.Invalidf("%s must be an RFC 3339 time such as 2027-01-31T09:30:00Z, not %q", name, *text)
	}
	return t, nil
}

func (s *server) TestWebhook(w http.ResponseWriter, r *http.Request, id string) {
	eventID, err := s.webhooks.Test(r.Context(), id)
	writeResult(w, r, WebhookTest{EventId: eventID}, err)
}

func (s *server) ListWebhookTargets(w http.ResponseWriter, r *http.Request) {
	query, err := httpx.Query(r.URL.RawQuery, "project_id")
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeTargets(w, r, query["project_id"])
}

func (s *server) ResumeWebhookTarget(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[WebhookResumption](w, r)
	if err == nil {
		err = s.webhooks.Resume(r.Context(), id, q.Url)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeTargets(w, r, id)
}

func (s *server) writeTargets(w http.ResponseWriter, r *http.Request, projectID string) {
	all, err := s.webhooks.Targets(r.Context(), projectID)
	out := WebhookTargetList{Targets: []WebhookTarget{}}
	for _, t := range all {
		out.Targets = append(out.Targets, WebhookTarget{ProjectId: t.ProjectID, Url: t.URL, Failures: t.Failures,
			FailingSince: t.FailingSince,
			Paused:       t.Paused(), PausedAt: timeOrNil(t.PausedAt), ProbeAt: timeOrNil(t.ProbeAt), Notice: t.Notice})
	}
	writeResult(w, r, out, err)
}

func delivery(d webhook.Delivery) Webhook {
	return Webhook{DeliveryId: d.ID, EventId: d.EventID, ProjectId: d.ProjectID, RoomId: d.RoomID, Url: d.URL,
		Type:     string(d.Type),
		Sequence: d.Sequence, Previous: d.Previous, State: WebhookState(d.State), Replay: d.Replay,
		AttemptCount: d.Attempts,
		CreatedAt:    d.CreatedAt, DoneAt: timeOrNil(d.DoneAt)}
}
