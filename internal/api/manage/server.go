package manage

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/internal/api/httpx"
	"parley/internal/audit"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/fault"
	"parley/internal/key"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/requestlog"
	"parley/internal/room"
	"parley/internal/seal"
	"parley/internal/usage"
)

// Projects is the part of the project service that this API calls.
type Projects interface {
	CreateOrganization(ctx context.Context, name string, billing project.Billing) (project.Organization, error)
	Organizations(ctx context.Context, after string, limit int) ([]project.Organization, error)
	SearchOrganizations(ctx context.Context, text, after string, limit int) ([]project.Organization, string, error)
	Organization(ctx context.Context, id string) (project.Organization, error)
	SetOrganization(ctx context.Context, id string, changes project.OrganizationChanges) (project.Organization, error)
	SuspendOrganization(ctx context.Context, id string) (project.Organization, error)
	ResumeOrganization(ctx context.Context, id string) (project.Organization, error)
	Projects(ctx context.Context, q project.ListQuery) ([]project.Project, error)
	SearchProjects(ctx context.Context, text string, q project.ListQuery) ([]project.Project, string, error)
	ProjectsByID(ctx context.Context, ids []string) ([]project.Project, error)
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
	CreateProject(ctx context.Context, d project.Draft) (project.Project, key.IssuedCredentials, error)
	Credentials(ctx context.Context, projectID string) (key.Credentials, error)
	RotateKey(ctx context.Context, projectID string, rotation key.Rotation) (key.RotatedKey, error)
	RotateSecret(ctx context.Context, projectID string, rotation key.Rotation) (key.RotatedSecret, error)
	RevokeOverlap(ctx context.Context, projectID string) error
	RevokeSecretOverlap(ctx context.Context, projectID string) error
}

// Rooms is the part of the room service that this API calls.
type Rooms interface {
	Search(ctx context.Context, q room.SearchQuery) (room.SearchPage, error)
	GetSummary(ctx context.Context, id string) (room.Summary, error)
	Attendance(ctx context.Context, roomID string) ([]room.AttendanceRecord, error)
	AttendanceOfConnections(ctx context.Context, roomID string, connections []string) ([]room.Attendance, error)
	HostActions(ctx context.Context, roomID string, after int64, limit int) ([]room.HostAction, error)
	End(ctx context.Context, id string, reason room.EndReason) (sentOut int, err error)
	RemoveBySeat(ctx context.Context, roomID, seatID string) (connected bool, err error)
	EndRunningRooms(ctx context.Context, projectID string, reason room.EndReason) (ended int, err error)
	NodeStatuses(ctx context.Context) ([]room.NodeStatus, error)
	DrainNode(ctx context.Context, nodeID string, within time.Duration) (room.NodeStatus, error)
	CancelDrain(ctx context.Context, nodeID string) (room.NodeStatus, error)
	// NodeID returns the id of this process.
	NodeID() string
}

// Tokens is the part of the token service that this API calls.
type Tokens interface {
	Authenticate(ctx context.Context, token string) (operator.Token, error)
	Create(ctx context.Context, q operator.NewToken) (operator.Token, seal.Secret, error)
	List(ctx context.Context) ([]operator.Token, error)
	Revoke(ctx context.Context, id string) (operator.Token, error)
}

// Console is the part of the operator service that this API calls for users and sessions of
// the console.
type Console interface {
	AuthenticateSession(ctx context.Context, secret string, repeated bool) (operator.Caller, error)
	SignInWithToken(ctx context.Context, token string, origin audit.Origin) (operator.Caller, seal.Secret, error)
	SignInWithLink(ctx context.Context, code string, origin audit.Origin) (operator.Caller, seal.Secret, error)
	SignInWithOpenID(ctx context.Context, a operator.OpenIDAccount, origin audit.Origin) (
		operator.Caller, seal.Secret, error)
	CreateLink(ctx context.Context, q operator.NewLink) (operator.Session, seal.Secret, error)
	Sessions(ctx context.Context, before string, limit int) (found []operator.ListedSession, more bool, err error)
	Session(ctx context.Context, id string) (operator.Session, error)
	RevokeSession(ctx context.Context, id string) (operator.Session, error)
	CreateUser(ctx context.Context, q operator.NewUser) (operator.User, error)
	Users(ctx context.Context, after string, limit int) (found []operator.User, more bool, err error)
	ChangeUser(ctx context.Context, id string, c operator.UserChanges) (operator.User, error)
	DeleteUser(ctx context.Context, id string) (operator.User, error)
}

// Backups is the part of the backup service that this API calls.
type Backups interface {
	// Create makes a backup, which the caller must close.
	Create(ctx context.Context) (*backup.Archive, error)
}

// Plans is the part of the plan provider that this API calls.
type Plans interface {
	// Names returns the names of the configured plans in order, or none without
	// a plan provider.
	Names() []string
}

// Audit is the part of the audit log that this API calls.
type Audit interface {
	List(ctx context.Context, q audit.Query) (page []audit.Entry, next int64, err error)
	Verify(ctx context.Context) (audit.Report, error)
}

// KeyUses counts the calls with the API keys.
type KeyUses interface {
	// Count returns the number of calls with a key while it was in a slot, and the time of the
	// last one.
	Count(ctx context.Context, keyID, slot string) (n int64, last time.Time, err error)
}

// Usage is the part of the usage service that this API calls.
type Usage interface {
	Report(ctx context.Context, scope usage.Scope, from, to time.Time) (usage.Report, error)
	ReportProjects(ctx context.Context, organizationID string, projectIDs []string, from, to time.Time) (
		[]usage.Totals, error)
	Rebuild(ctx context.Context, organizationID string, from, to time.Time) (usage.Rebuilt, error)
}

// Calls is the part of the request log that this API calls.
type Calls interface {
	List(ctx context.Context, q requestlog.Query) (requestlog.Page, error)
	Find(ctx context.Context, q requestlog.Query, at time.Time, after requestlog.BlockPosition) (
		[]requestlog.NumberedCall, requestlog.BlockPosition, error)
	Rejections(ctx context.Context, q requestlog.RejectionQuery) (
		page []requestlog.RejectionCount, next requestlog.RejectionCount, err error)
	// KeyCallers returns the recent callers with each credential of a project by its slot, the latest first.
	KeyCallers(ctx context.Context, projectID string) (map[string][]requestlog.KeyCaller, error)
}

// APIName is the name of this API in metrics and in the request log.
const APIName = requestlog.ManagementAPI

// Services are the parts of the service that this API calls.
type Services struct {
	Projects  Projects
	Keys      Keys
	KeyUses   KeyUses
	Rooms     Rooms
	Tokens    Tokens
	Console   Console
	OpenID    OpenID        // nil if people cannot sign in with OpenID Connect
	BaseURL   func() string // at which browsers reach the server
	Plans     Plans
	Webhooks  Webhooks
	Retention Retention
	Audit     Audit
	Usage     Usage
	Backups   Backups
	// ConnectionChecks are checks from other machines.
	ConnectionChecks ConnectionChecks
	Overviews        Overviews
	Settings         []config.Value
	// Signatures are the checks of signatures, by the version of a SignedRequest.
	Signatures map[string]SignatureChecker
	Calls      Calls          // nil if calls are not recorded
	APIs       []string       // whose calls are recorded
	Failures   FailureLimiter // nil for no limit
	Rate       RateLimiter    // of integrators' tokens; nil for no limit
	// SessionRate limits the calls in the console of an integrator: of all sessions of a token or a user, or of the
	// session of a portal link. Nil for no limit.
	SessionRate RateLimiter

	// Stopping is closed when the service stops, so that streams end. After waits between the
	// repetitions of a stream; nil is time.After.
	Stopping <-chan struct{}
	After    func(time.Duration) <-chan time.Time
	// Log has a line for each result of a stream that has failed. Nil logs nothing.
	Log *slog.Logger
}

// server handles the requests of the management API.
type server struct {
	Services
	mux     *httpx.Mux // requires an authenticated request
	streams streams
}

// NewHandler returns the handler for all paths under /api/manage/. Every path except
// publicPaths requires a caller, even an unknown one.
func NewHandler(services Services) http.Handler {
	if services.Log == nil {
		services.Log = slog.New(slog.DiscardHandler)
	}
	if services.After == nil {
		services.After = time.After
	}
	mux := httpx.NewMux(notFound, notAllowed)
	s := &server{Services: services, mux: mux}
	for route, handler := range routes("", s) {
		method, path, _ := strings.Cut(route, " ")
		mux.HandleFunc(method+" /api/manage"+path, s.authorize(route, handler))
	}
	sameOrigin := s.newOriginCheck()
	return httpx.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		var err error
		if !slices.Contains(publicPaths, strings.TrimPrefix(r.URL.Path, "/api/manage")) {
			r, err = s.authenticate(r)
		}
		if err == nil {
			err = sameOrigin(r)
		}
		if err != nil {
			writeError(w, r, err)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// newOriginCheck returns a function that refuses requests of a page of another origin, which a
// browser would send with the cookie of the console.
func (s *server) newOriginCheck() func(r *http.Request) error {
	check := http.NewCrossOriginProtection()
	return func(r *http.Request) error {
		if check.Check(r) == nil || r.Header.Get("Origin") == s.BaseURL() {
			return nil
		}
		return fault.New(fault.Forbidden, "cross_origin", "a page of another origin cannot make this request: "+
			"make it from a backend, or in the console")
	}
}

// allowLongRequest removes the read timeout of the server, which would cancel a request that
// takes longer. It must be called after the body was read.
func allowLongRequest(w http.ResponseWriter) {
	// An error means that there is no timeout.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// uninterrupted is allowLongRequest for an operation of several steps. It returns the request with a context in which
// all of them are done, also if the caller leaves after the first one.
func uninterrupted(w http.ResponseWriter, r *http.Request) *http.Request {
	allowLongRequest(w)
	return r.WithContext(context.WithoutCancel(r.Context()))
}

// writeResult writes v with status 200, or the error if err is not nil.
func writeResult[T any](w http.ResponseWriter, r *http.Request, v T, err error) {
	if err != nil {
		writeError(w, r, err)
		return
	}
	httpx.WriteJSON(w, http.StatusOK, v)
}
