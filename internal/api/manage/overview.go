package manage

import (
	"context"
	"net/http"
	"slices"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/overview"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/validate"
)

// Overviews is the part of the overview service that this API calls.
type Overviews interface {
	All(ctx context.Context) (overview.Overview, error)
	OfProject(ctx context.Context, p project.Project) (overview.Overview, error)
}

func (s *server) GetOverview(w http.ResponseWriter, r *http.Request) {
	o, err := s.overview(r)
	writeResult(w, r, newOverview(o), err)
}

func (s *server) overview(r *http.Request) (overview.Overview, error) {
	query, err := httpx.Query(r.URL.RawQuery, "project_id")
	if err != nil {
		return overview.Overview{}, err
	}
	id, sent := query["project_id"]
	if !sent {
		return s.Overviews.All(r.Context())
	}
	p, err := s.Projects.Get(r.Context(), id)
	if err != nil {
		return overview.Overview{}, err
	}
	return s.Overviews.OfProject(r.Context(), p)
}

// NewLocalHandler returns a handler that responds with the overview of the service. Its callers need no token, because
// only the user of the server reaches it.
func NewLocalHandler(overviews Overviews) http.Handler {
	return httpx.WithRequestID(httpx.ReadOnly(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o, err := overviews.All(r.Context())
		if err != nil {
			writeError(w, r, err)
			return
		}
		httpx.WriteJSON(w, http.StatusOK, newOverview(o))
	})))
}

func newOverview(o overview.Overview) Overview {
	out := Overview{
		At:           httpx.FormatTime(o.At),
		LiveRooms:    o.Live.Rooms,
		Participants: o.Live.Participants(),
		ConnectionTypes: ConnectionTypes{Udp: o.Live.People[room.ConnectionUDP], Tcp: o.Live.People[room.ConnectionTCP],
			Turn: o.Live.People[room.ConnectionTURN], Unknown: o.Live.People[room.ConnectionUnknown]},
		FailingWebhookTargets:     newWebhookTargets(o.Targets).Targets,
		FailingWebhookTargetCount: o.FailingTargets,
		Calls: CallTotals{Since: httpx.FormatTime(o.Calls.At), Accepted: o.Calls.Accepted, Rejected: o.Calls.Rejected,
			Recorded: o.Recorded},
		Findings: []Finding{},
		Hours:    []OverviewHour{},
	}
	if o.ProjectID != "" {
		out.ProjectId = &o.ProjectID
	} else {
		out.Nodes = newNodeSummary(o.Nodes)
		rejected := []ProjectCalls{}
		for _, t := range o.MostRejected {
			rejected = append(rejected, ProjectCalls{ProjectId: t.ProjectID, Accepted: t.Accepted, Rejected: t.Rejected})
		}
		out.Calls.MostRejected = &rejected
	}
	for _, f := range o.Findings {
		shown := Finding{Id: f.ID, Level: FindingLevel(f.Level), Text: f.Text, Action: f.Action}
		if f.ProjectID != "" {
			shown.ProjectId = &f.ProjectID
		}
		if len(f.Commands) > 0 {
			shown.Commands = &f.Commands
		}
		if len(f.Nodes) > 0 {
			shown.Nodes, shown.ThisNode = &f.Nodes, &f.ThisNode
		}
		out.Findings = append(out.Findings, shown)
	}
	for _, h := range o.Hours {
		out.Hours = append(out.Hours, OverviewHour{Hour: httpx.FormatTime(h.Date), Rooms: h.Totals.RoomsCreated,
			ParticipantMinutes: h.Totals.ParticipantMinutes().Float(), PeakParticipants: h.Totals.Peak})
	}
	return out
}

// newNodeSummary counts the nodes that are live.
func newNodeSummary(nodes []room.NodeStatus) *NodeSummary {
	summary := &NodeSummary{Versions: []string{}}
	for _, n := range nodes {
		if n.Lost {
			continue
		}
		summary.Count++
		if !slices.Contains(summary.Versions, n.Version) {
			summary.Versions = append(summary.Versions, n.Version)
		}
	}
	slices.Sort(summary.Versions)
	return summary
}

func (s *server) ListNodes(w http.ResponseWriter, r *http.Request) {
	nodes, err := s.listNodes(r)
	writeResult(w, r, nodes, err)
}

func (s *server) listNodes(r *http.Request) (NodeList, error) {
	nodes, err := s.Rooms.NodeStatuses(r.Context())
	if err != nil {
		return NodeList{}, err
	}
	out := NodeList{Nodes: []Node{}}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, newNode(n))
	}
	return out, nil
}

func newNode(n room.NodeStatus) Node {
	shown := Node{
		Node:          n.ID,
		Version:       n.Version,
		State:         NodeStateLive,
		ThisNode:      n.Own,
		LastSeenAt:    httpx.FormatTime(n.LastAlive),
		Sessions:      n.Sessions,
		People:        n.People,
		Redis:         NodeRedis(n.Redis),
		RelayedPeople: n.RelayedPeople,
	}
	if n.Drain.Active() {
		shown.State, shown.DrainBy = NodeStateDraining, httpx.TimeOrNil(n.Drain.By)
	}
	if n.Lost {
		shown.State = NodeStateLost
	}
	if n.Redis == "" {
		shown.Redis = NodeRedisUnknown
	}
	if !n.StartedAt.IsZero() {
		shown.StartedAt = new(httpx.FormatTime(n.StartedAt))
	}
	if n.ClockOffset != nil {
		shown.ClockOffsetSeconds = new(n.ClockOffset.Seconds())
	}
	return shown
}

// defaultDrain is the time for a drain without one.
const defaultDrain = time.Minute

func (s *server) DrainNode(w http.ResponseWriter, r *http.Request, node string) {
	out, err := s.drainNode(w, r, node)
	writeResult(w, r, out, err)
}

func (s *server) drainNode(w http.ResponseWriter, r *http.Request, node string) (Node, error) {
	q, err := read[DrainNode](w, r)
	if err != nil {
		return Node{}, err
	}
	within := defaultDrain
	if q.Within != nil {
		if err := validate.Range("within", *q.Within, 0, int(room.MaxDrain.Seconds())); err != nil {
			return Node{}, err
		}
		within = time.Duration(*q.Within) * time.Second
	}
	n, err := s.Rooms.DrainNode(r.Context(), node, within)
	return newNode(n), err
}

func (s *server) CancelDrain(w http.ResponseWriter, r *http.Request, node string) {
	n, err := s.Rooms.CancelDrain(r.Context(), node)
	writeResult(w, r, newNode(n), err)
}
