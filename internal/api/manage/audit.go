package manage

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"parley/internal/api/httpx"
	"parley/internal/audit"
	"parley/internal/validate"
)

func (s *server) ListAudit(w http.ResponseWriter, r *http.Request) {
	q, err := parseAuditQuery(r.URL.RawQuery)
	if err != nil {
		writeError(w, r, err)
		return
	}
	entries, next, err := s.Audit.List(r.Context(), q)
	out := AuditList{Entries: []AuditEntry{}}
	for _, e := range entries {
		entry, decodeErr := newAuditEntry(e)
		if decodeErr != nil {
			writeError(w, r, decodeErr)
			return
		}
		out.Entries = append(out.Entries, entry)
	}
	if next != 0 {
		out.NextCursor = new(strconv.FormatInt(next, 10))
	}
	writeResult(w, r, out, err)
}

func parseAuditQuery(rawQuery string) (audit.Query, error) {
	query, err := httpx.Query(rawQuery, "project_id", "action", "actor", "subject", "since", "before", "limit",
		"cursor")
	if err != nil {
		return audit.Query{}, err
	}
	q := audit.Query{
		ProjectID: query["project_id"],
		Action:    audit.Action(query["action"]),
		Actor:     query["actor"],
		Subject:   query["subject"],
		Limit:     validate.DefaultPage,
	}
	if q.Since, q.Before, err = parsePeriod(query); err != nil {
		return audit.Query{}, err
	}
	if text, sent := query["limit"]; sent {
		if q.Limit, err = parseInteger("limit", text); err != nil {
			return audit.Query{}, err
		}
	}
	if text, sent := query["cursor"]; sent {
		if q.BelowN, err = strconv.ParseInt(text, 10, 64); err != nil || q.BelowN < 1 {
			return audit.Query{}, httpx.ErrCursor
		}
	}
	return q, nil
}

func newAuditEntry(e audit.Entry) (AuditEntry, error) {
	out := AuditEntry{
		N:         e.N,
		At:        httpx.FormatTime(e.At),
		Actor:     e.Actor(),
		ActorKind: AuditEntryActorKind(e.Kind),
		ActorId:   e.ActorID,
		Action:    string(e.Action),
		Subject:   e.Subject,
		ProjectId: e.ProjectID,
		RequestId: e.RequestID,
		Address:   e.Address,
		Node:      e.Node,
		Hash:      e.Hash,
	}
	err := errors.Join(json.Unmarshal([]byte(e.Before), &out.Before), json.Unmarshal([]byte(e.After), &out.After))
	if err != nil {
		return out, fmt.Errorf("audit entry %d: %w", e.N, err)
	}
	return out, nil
}

func (s *server) VerifyAudit(w http.ResponseWriter, r *http.Request) {
	allowLongRequest(w)
	report, err := s.Audit.Verify(r.Context())
	out := AuditReport{Ok: report.Problem == nil, Rows: report.Rows, N: report.N, Head: report.Hash}
	if p := report.Problem; p != nil {
		out.Problem = &AuditProblem{N: p.N, Defect: AuditProblemDefect(p.Defect), Message: p.String()}
	}
	writeResult(w, r, out, err)
}
