package manage

import (
	"context"
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/room"
	"parley/internal/seal"
)

// Projects is the part of the project service that this API calls.
type Projects interface {
	CreateOrganization(ctx context.Context, name string, billing project.Billing) (project.Organization, error)
	Organizations(ctx context.Context) ([]project.Organization, error)
	Organization(ctx context.Context, id string) (project.Organization, error)
	SetOrganization(ctx context.Context, id string, changes project.OrganizationChanges) (project.Organization, error)
	Projects(ctx context.Context, organizationID string) ([]project.Project, error)
	Get(ctx context.Context, id string) (project.Project, error)
	Edit(ctx context.Context, id string, e project.Edit) (project.Project, error)
	Suspend(ctx context.Context, id string) error
	Resume(ctx context.Context, id string) error
	SetLogo(ctx context.Context, projectID string, l project.Logo, image []byte) error
	DeleteLogo(ctx context.Context, projectID string) error
	Logo(ctx context.Context, projectID string) (project.Logo, error)
}

// Keys is the part of the key service that this API calls.
type Keys interface {
	CreateProject(ctx context.Context, organizationID, name string) (project.Project, key.IssuedCredentials, error)
	Credentials(ctx context.Context, projectID string) (key.Credentials, error)
	RotateKey(ctx context.Context, projectID string, rotation key.Rotation) (key.RotatedKey, error)
	RotateSecret(ctx context.Context, projectID string, rotation key.Rotation) (key.RotatedSecret, error)
	RevokeOverlap(ctx context.Context, projectID string) error
	RevokeSecretOverlap(ctx context.Context, projectID string) error
}

// Rooms is the part of the room service that this API calls.
type Rooms interface {
	List(ctx context.Context, q room.ListQuery) (rooms []room.Summary, more bool, err error)
	GetSummary(ctx context.Context, id string) (room.Summary, error)
	End(ctx context.Context, id string, reason room.EndReason) (sentOut int, err error)
	EndRunningRooms(ctx context.Context, projectID string, reason room.EndReason) (ended int, err error)
}

// Tokens is the part of the token service that this API calls.
type Tokens interface {
	Authenticate(ctx context.Context, token string) (operator.Token, error)
	Create(ctx context.Context, name string) (operator.Token, seal.Secret, error)
	List(ctx context.Context) ([]operator.Token, error)
	Revoke(ctx context.Context, id string) (operator.Token, error)
}

// Plans is the part of the plan provider that this API calls.
type Plans interface {
	// Names returns the names of the configured plans in order, or none without
	// a plan provider.
	Names() []string
}

// server handles the requests of the management API.
type server struct {
	projects Projects
	keys     Keys
	rooms    Rooms
	tokens   Tokens
	plans    Plans
	webhooks Webhooks
	failures FailureLimiter
}

// NewHandler returns the handler for all paths under /api/manage/. Every path
// requires a live management token, even an unknown one. A nil failures means no
// limit.
func NewHandler(projects Projects, keys Keys, rooms Rooms, tokens Tokens, plans Plans, webhooks Webhooks,
	failures FailureLimiter) http.Handler {
	s := &server{projects: projects, keys: keys, rooms: rooms, tokens: tokens, plans: plans,
		webhooks: webhooks, failures: failures}
	mux := httpx.NewMux(notFound, notAllowed)
	mux.Handle(routes("/api/manage", s))
	return httpx.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		r, err := s.authenticate(r)
		if err != nil {
			writeError(w, r, err)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// writeResult writes v with status 200, or the error if err is not nil.
func writeResult[T any](w http.ResponseWriter, r *http.Request, v T, err error) {
	if err != nil {
		writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, v)
}
