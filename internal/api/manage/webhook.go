package manage

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/validate"
	"parley/internal/webhook"
)

// Webhooks is the part of the webhook service that this API calls.
type Webhooks interface {
	List(ctx context.Context, f webhook.Filter, target string) (page []webhook.Delivery, next string, err error)
	Show(ctx context.Context, id string) (webhook.Delivery, []webhook.Attempt, error)
	Replay(ctx context.Context, q webhook.Replay) (int, error)
	Retry(ctx context.Context, q webhook.Retry) (webhook.Retried, error)
	Test(ctx context.Context, projectID string) (eventID string, err error)
	Targets(ctx context.Context, projectID string) ([]webhook.Target, error)
	Pause(ctx context.Context, projectID, url string) error
	Resume(ctx context.Context, projectID, url string) error
	Timeline(ctx context.Context, roomID string, after int64, limit int) (
		timeline []webhook.TimelineEvent, more bool, err error)
}

func (s *server) ListWebhooks(w http.ResponseWriter, r *http.Request) {
	f, target, err := parseWebhookFilter(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, err)
		return
	}
	page, next, err := s.Webhooks.List(r.Context(), f, target)
	out := WebhookList{Webhooks: []Webhook{}}
	for _, d := range page {
		out.Webhooks = append(out.Webhooks, newWebhook(d))
	}
	if next != "" {
		out.NextCursor = &next
	}
	writeResult(w, r, out, err)
}

func parseWebhookFilter(rawQuery string) (f webhook.Filter, target string, err error) {
	query, err := httpx.Query(rawQuery, "project_id", "room_id", "event_id", "url", "state", "since", "before", "limit",
		"cursor")
	if err != nil {
		return f, "", err
	}
	f = webhook.Filter{
		ProjectID: query["project_id"],
		RoomID:    query["room_id"],
		EventID:   query["event_id"],
		Cursor:    query["cursor"],
		Limit:     validate.DefaultPage,
	}
	if text, sent := query["limit"]; sent {
		if f.Limit, err = parseInteger("limit", text); err != nil {
			return f, "", err
		}
	}
	if err := validate.Range("limit", f.Limit, 1, validate.MaxPage); err != nil {
		return f, "", err
	}
	if f.Since, f.Before, err = parsePeriod(query); err != nil {
		return f, "", err
	}
	if state, sent := query["state"]; sent {
		f.State = webhook.State(state)
		if !slices.Contains([]webhook.State{webhook.Pending, webhook.Delivered, webhook.Failed, webhook.Gone},
			f.State) {
			return f, "", fault.Invalidf("state must be pending, delivered, failed or gone, not %q", f.State)
		}
	}
	if f.Cursor != "" && uuid.Validate(f.Cursor) != nil {
		return f, "", httpx.ErrCursor
	}
	return f, query["url"], nil
}

func (s *server) GetWebhook(w http.ResponseWriter, r *http.Request, id string) {
	d, attempts, err := s.Webhooks.Show(r.Context(), id)
	out := newWebhook(d)
	out.Body = &d.Body
	all := []WebhookAttempt{}
	for _, a := range attempts {
		all = append(all, WebhookAttempt{
			N:          a.N,
			At:         NewTime(a.At),
			DurationMs: a.Duration.Milliseconds(),
			Status:     a.Status,
			Error:      a.Error,
			Answer:     a.ResponseBody,
		})
	}
	out.Attempts = &all
	writeResult(w, r, out, err)
}

func (s *server) ReplayWebhooks(w http.ResponseWriter, r *http.Request) {
	q, err := read[WebhookReplay](w, r)
	replay := webhook.Replay{
		ProjectID: q.ProjectId,
		EventID:   httpx.OrZero(q.EventId),
		RoomID:    httpx.OrZero(q.RoomId),
		URL:       httpx.OrZero(q.Url),
		State:     webhook.State(httpx.OrZero(q.State)),
	}
	if err == nil {
		replay.ProjectID, err = bodyProject(r, replay.ProjectID)
	}
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
		n, err = s.Webhooks.Replay(uninterrupted(w, r).Context(), replay)
	}
	writeResult(w, r, WebhookReplayed{Enqueued: n}, err)
}

func (s *server) RetryWebhooks(w http.ResponseWriter, r *http.Request) {
	q, err := read[WebhookRetry](w, r)
	retry := webhook.Retry{DeliveryID: httpx.OrZero(q.DeliveryId), ProjectID: httpx.OrZero(q.ProjectId),
		URL: httpx.OrZero(q.Url)}
	if err == nil {
		retry.ProjectID, err = bodyProject(r, retry.ProjectID)
	}
	if err == nil {
		retry.Since, err = parseTime("since", q.Since)
	}
	if err == nil {
		retry.Before, err = parseTime("before", q.Before)
	}
	var done webhook.Retried
	if err == nil {
		done, err = s.Webhooks.Retry(r.Context(), retry)
	}
	writeResult(w, r, WebhookRetried{Retried: done.Deliveries, Queues: done.Streams}, err)
}

func (s *server) TestWebhook(w http.ResponseWriter, r *http.Request, id string) {
	eventID, err := s.Webhooks.Test(r.Context(), id)
	writeResult(w, r, WebhookTest{EventId: eventID}, err)
}

func (s *server) ListWebhookTargets(w http.ResponseWriter, r *http.Request) {
	out, err := s.listTargets(r)
	writeResult(w, r, out, err)
}

func (s *server) listTargets(r *http.Request) (WebhookTargetList, error) {
	query, err := httpx.Query(r.URL.RawQuery, "project_id", "limit", "cursor")
	if err != nil {
		return WebhookTargetList{}, err
	}
	all, err := s.Webhooks.Targets(r.Context(), query["project_id"])
	if err != nil {
		return WebhookTargetList{}, err
	}
	slices.SortFunc(all, compareTargets)
	if text, sent := query["cursor"]; sent {
		after, err := parseTargetCursor(text)
		if err != nil {
			return WebhookTargetList{}, err
		}
		all = slices.DeleteFunc(all, func(t webhook.Target) bool { return compareTargets(t, after) <= 0 })
	}
	page, next, err := limitPage(query, all, targetCursor)
	out := newWebhookTargets(page)
	out.NextCursor = next
	return out, err
}

// compareTargets orders targets by their project and URL.
func compareTargets(a, b webhook.Target) int {
	return cmp.Or(cmp.Compare(a.ProjectID, b.ProjectID), cmp.Compare(a.URL, b.URL))
}

// targetCursor returns the cursor of a page that ends with a target. It names the target, which
// may have recovered when the next page is read.
func targetCursor(t webhook.Target) string {
	return base64.RawURLEncoding.EncodeToString([]byte(t.ProjectID + " " + t.URL))
}

func parseTargetCursor(text string) (webhook.Target, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	projectID, url, found := strings.Cut(string(raw), " ")
	if err != nil || !found {
		return webhook.Target{}, httpx.ErrCursor
	}
	return webhook.Target{ProjectID: projectID, URL: url}, nil
}

func (s *server) PauseWebhookTarget(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[WebhookPause](w, r)
	if err == nil {
		err = s.Webhooks.Pause(r.Context(), id, q.Url)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeTargets(w, r, id)
}

func (s *server) ResumeWebhookTarget(w http.ResponseWriter, r *http.Request, id string) {
	q, err := read[WebhookResumption](w, r)
	if err == nil {
		err = s.Webhooks.Resume(r.Context(), id, q.Url)
	}
	if err != nil {
		writeError(w, r, err)
		return
	}
	s.writeTargets(w, r, id)
}

func (s *server) writeTargets(w http.ResponseWriter, r *http.Request, projectID string) {
	all, err := s.Webhooks.Targets(r.Context(), projectID)
	writeResult(w, r, newWebhookTargets(all), err)
}

func newWebhookTargets(all []webhook.Target) WebhookTargetList {
	out := WebhookTargetList{Targets: []WebhookTarget{}}
	for _, t := range all {
		out.Targets = append(out.Targets, WebhookTarget{
			ProjectId:    t.ProjectID,
			Url:          t.URL,
			Failures:     t.Failures,
			FailingSince: NewTime(t.FailingSince),
			Paused:       t.Paused(),
			PausedAt:     httpx.TimeOrNil(t.PausedAt),
			ProbeAt:      httpx.TimeOrNil(t.ProbeAt),
			Notice:       t.Notice,
		})
	}
	return out
}

func newWebhook(d webhook.Delivery) Webhook {
	return Webhook{
		DeliveryId:    d.ID,
		EventId:       d.EventID,
		ProjectId:     d.ProjectID,
		RoomId:        d.RoomID,
		Url:           d.URL,
		Type:          string(d.Type),
		Sequence:      d.Sequence,
		Previous:      d.Previous,
		State:         WebhookState(d.State),
		Held:          d.Held,
		Replay:        d.Replay,
		AttemptCount:  d.Attempts,
		CreatedAt:     NewTime(d.CreatedAt),
		DoneAt:        httpx.TimeOrNil(d.DoneAt),
		NextAttemptAt: httpx.TimeOrNil(d.NextAttemptAt),
		LastStatus:    d.LastStatus,
	}
}
