// Package app builds the service from its parts and runs it from start to stop.
// It may import every package; only the command line imports it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/api/httpx"
	"parley/internal/api/join"
	"parley/internal/api/manage"
	"parley/internal/api/site"
	"parley/internal/audit"
	"parley/internal/certificate"
	"parley/internal/cluster"
	"parley/internal/config"
	"parley/internal/conncheck"
	"parley/internal/connlimit"
	"parley/internal/db"
	"parley/internal/doctor"
	"parley/internal/edge"
	"parley/internal/instance"
	"parley/internal/key"
	"parley/internal/media"
	"parley/internal/metrics"
	"parley/internal/operator"
	"parley/internal/project"
	"parley/internal/quickstart"
	"parley/internal/refusal"
	"parley/internal/retention"
	"parley/internal/room"
	"parley/internal/store"
	"parley/internal/supervise"
	"parley/internal/usage"
	"parley/internal/webhook"
	"parley/internal/webhook/sender"
	"parley/web"
)

// startupWriteTimeout bounds a write during the start. It is longer than usual,
// because the disk may still be busy with an earlier process.
const startupWriteTimeout = 10 * time.Second

// App is one running service.
type App struct {
	*instance.ExclusiveResources
	cfg          config.Config
	log          *slog.Logger
	supervisor   *supervise.Service // nil without a supervisor
	isolated     bool               // see newIsolated
	instanceLock *db.InstanceLock   // nil without PostgreSQL
	redis        *cluster.Redis     // nil on one machine
	db           *store.DB
	engine       *media.Engine
	projects     *project.Service
	keys         *key.Service
	rooms        *room.Service
	webhooks     *webhook.Service
	sender       *sender.Service // nil if the service is isolated
	backups      *backups
	usage        *usage.Service
	retention    *retention.Service
	tokens       *operator.Service
	audit        *audit.Service
	checks       *conncheck.Service
	callStats    callStats
	quickstart   *quickstart.Service
	scheduled    *scheduledBackups    // nil without --backup-dir; set by Run before it serves
	stopping     chan struct{}        // closed when the service stops
	registry     *prometheus.Registry // of the metrics of this service
	metrics      *metrics.Metrics
	baseURL      string
	handler      http.Handler
	local        http.Handler          // of the local socket
	failures     manage.FailureLimiter // nil without rate limits
	refusals     *refusal.Recorder
	connections  *connlimit.Limits  // set by wire
	certificate  certificate.Source // nil without TLS
	missing      []string           // what the start went on without, in sentences that Run prints
	edge         *edge.Edge         // nil without TLS; set by wire
	machine      *machine           // set by wire
	tasks        *tasks             // set by wire
	ready        atomic.Bool
	installation atomic.Pointer[string] // see doctor.Live; empty before Run
	findings     atomic.Pointer[string] // see keepFindings; nil before it
	databaseLost atomic.Bool            // the last sample of the backlog failed
}

// New returns a service that is ready to Run: the data directory is locked, the
// database is open and migrated, the ports are bound. Its errors name the setting
// and the remedy. Call Close if Run is not called.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, options ...Option) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e, err := instance.AcquireExclusive(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	var o appOptions
	for _, option := range options {
		option(&o)
	}
	return newApp(ctx, cfg, log, e, o)
}

// Option, for tests, changes how a service of New works.
type Option func(*appOptions)

// WithRenewalCheck sets the time between two looks at the expiry of the certificates of --tls-domain. It is ten minutes
// without this option.
func WithRenewalCheck(interval time.Duration) Option {
	return func(o *appOptions) { o.renewalCheck = interval }
}

// NewSupervised is New for the child process of a supervisor, which holds the
// data directory and the ports.
func NewSupervised(ctx context.Context, cfg config.Config, log *slog.Logger, s *supervise.Service) (*App, error) {
	e, err := instance.InheritExclusive(ctx, cfg, s.Files, log)
	if err != nil {
		return nil, err
	}
	return newApp(ctx, cfg, log, e, appOptions{supervisor: s})
}

// appOptions are what differs between the constructors.
type appOptions struct {
	supervisor   *supervise.Service
	isolated     bool          // see newIsolated
	renewalCheck time.Duration // see WithRenewalCheck; 0 for the default
}

func newApp(ctx context.Context, cfg config.Config, log *slog.Logger, e *instance.ExclusiveResources,
	options appOptions) (_ *App, err error) {
	registry := newRegistry(cfg)
	a := &App{
		ExclusiveResources: e,
		cfg:                cfg,
		log:                log,
		supervisor:         options.supervisor,
		isolated:           options.isolated,
		registry:           registry,
		stopping:           make(chan struct{}),
		metrics:            newMetrics(registry),
		refusals:           refusal.NewRecorder(registry, log, time.Now),
	}
	for _, err := range e.Unopened() {
		a.missing = append(a.missing, err.Error()+
			".\nThe server starts without this address, and tries to open it every five seconds.")
	}
	a.installation.Store(new(string))
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	a.baseURL = cfg.BaseURL(a.Listener.Addr().String())
	a.loadCertificate()
	if err := a.connectRedis(ctx); err != nil {
		return nil, err
	}
	if err := a.lockDatabase(ctx); err != nil {
		return nil, err
	}
	if err := removeSnapshots(cfg.DataDir); err != nil {
		return nil, err
	}
	ctx = db.WithWriteTimeout(ctx, startupWriteTimeout)
	if a.db, err = instance.OpenStore(ctx, cfg); err != nil {
		return nil, err
	}
	a.db.ObserveWrites(a.metrics.Database)
	if err := a.wireACME(options.renewalCheck); err != nil {
		return nil, err
	}
	if err := a.wire(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// wire builds the services and the HTTP handler.
func (a *App) wire(ctx context.Context) error {
	secret, err := a.db.MediaSecret(ctx)
	if err != nil {
		return err
	}
	var nodeIPs []string
	for _, ip := range a.cfg.NodeIPs() {
		nodeIPs = append(nodeIPs, ip.String())
	}
	trusted, err := a.cfg.TrustedPrefixes()
	if err != nil {
		return err
	}
	a.limitConnections(trusted)
	a.wireEdge()
	a.engine, err = media.New(media.Config{
		SigningKey:    "parley",
		SigningSecret: secret.Reveal(),
		NodeIP:        strings.Join(nodeIPs, ","),
		Local:         doctor.IsLocal(config.Config{PublicURL: a.baseURL}),
		UDPPort:       a.cfg.RTCUDPPort,
		TCPPort:       a.cfg.SeparateTCPPort(),
		LimitTCP:      a.connections.LimitMediaConnections,
		TCPListener:   a.mediaListener(),
		TURN:          a.turn(),
		RedisURL:      a.cfg.RedisURL.Reveal(),
		Log:           a.log,
		Refusals:      a.refusals,
		Metrics:       a.metrics.Media,
	})
	if err != nil {
		return err
	}
	for _, f := range doctor.MediaPortFindings(a.cfg, a.engine.UnopenedPorts()) {
		a.missing = append(a.missing, f.Text+"\nChange: "+f.Change)
	}
	provider, err := planProvider(a.cfg)
	if err != nil {
		return err
	}
	now := time.Now
	a.tasks = newTasks(a.registry, a.log, now)
	a.usage = usage.NewService(a.db, provider, now)
	var limits rateLimits
	if a.cfg.RateLimitsEnabled {
		limits = newRateLimits(a.cfg.NewSeatsPerMinute, a.redis, now)
	}
	periods := retentionPeriods(a.cfg)
	a.webhooks = webhook.NewService(a.db, now, newID, webhook.WithRetention(
		func(p project.Project) time.Duration { return periods.ForProject(p.Settings.Retention).Deliveries }))
	// A change of a project invalidates the cache of the key service, and the key
	// service needs the project service. The function breaks the cycle, because it
	// reads a.keys only when a project changes, which is after wire.
	a.projects = project.NewService(a.db, now, newID, func(projectID string) { a.keys.InvalidateAndPublish(projectID) },
		project.WithInvalidateInDoubt(func(projectID string) { a.keys.InvalidateInDoubt(projectID) }),
		project.WithEventRecorder(a.webhooks.ProjectChanged))
	keyOptions := []key.Option{key.WithEventRecorder(a.webhooks.ProjectChanged)}
	if a.redis != nil {
		keyOptions = append(keyOptions, key.WithInvalidationPublisher(a.redis.PublishChange))
	}
	a.keys = key.NewService(a.db, a.projects, now, newID, keyOptions...)
	a.rooms = room.NewService(a.db, a.engine, a.BaseURL, now, newID, a.log, room.Options{
		Plans:          usage.RoomPlans{Provider: provider, Keys: a.keys},
		Webhooks:       a.webhooks,
		JoinLimiter:    limits.seatLimiter(),
		SignedLinks:    signedLinks{a.keys, now},
		Clustered:      a.redis != nil,
		Version:        Build().Version,
		RedisAvailable: a.redisAvailable(),
		Findings:       a.encodedFindings,
		Swept:          func(err error) { a.tasks.record(taskRooms, err) }, // the rooms log their errors
		Kept:           func(p project.Project) time.Duration { return periods.ForProject(p.Settings.Retention).Rooms },
	})
	a.retention = retention.NewService(a.db, periods, a.rooms.Bookings, a.keys.InvalidateAndPublish, now, a.log)
	a.tokens = operator.NewService(a.db, now, newID)
	a.audit = audit.NewService(a.db, now)
	a.quickstart = quickstart.New(quickstart.Config{
		DataDir:  a.cfg.DataDir,
		BaseURL:  a.baseURL,
		Store:    a.db,
		Projects: a.projects,
		Keys:     a.keys,
		Tokens:   a.tokens,
		Rooms:    a.rooms,
		Log:      a.log,
	})
	if err := a.wireSender(now); err != nil {
		return err
	}
	a.backups = newBackups(a.db, a.cfg, now)
	roomPage, err := site.New(web.Assets(), a.rooms.Joining)
	if err != nil {
		return err
	}
	docs, err := site.NewDocs(web.Assets())
	if err != nil {
		return err
	}
	console, err := site.NewConsole(web.Assets())
	if err != nil {
		return err
	}
	embedScript, err := site.NewEmbedScript(web.Assets())
	if err != nil {
		return err
	}
	landing, err := site.NewLanding(web.Assets(), func(ctx context.Context) map[string]string {
		report, _ := a.checkHealth(ctx) // /healthz logs the causes
		return report
	})
	if err != nil {
		return err
	}
	a.failures = limits.managementFailures()
	a.wireCallStats(now)
	versions, signatures, err := a.wireVersions(limits, now)
	if err != nil {
		return err
	}
	for _, v := range versions {
		a.callStats.apis = append(a.callStats.apis, v.name)
	}
	a.callStats.apis = append(a.callStats.apis, manage.APIName)
	a.registerRestartMetrics()
	a.registerHealthMetrics()
	a.registerUsageMetrics()
	a.machine = a.newMachine()
	a.checks = conncheck.NewService(a.db, a.rooms.Joining, now, newID)
	management := manage.Services{
		Projects:  a.projects,
		Keys:      a.quickstart.WithRotation(),
		KeyUses:   a.callStats.counter,
		Rooms:     a.rooms,
		Tokens:    a.tokens,
		Plans:     provider,
		Webhooks:  a.webhooks,
		Retention: a.retention,
		Audit:     a.audit,
		Usage:     a.usage,
		Backups:   a.backups,

		ConnectionChecks: a.checks,
		Settings:         a.settingValues(),
		Signatures:       signatures,
		Console:          a.tokens,
		BaseURL:          a.BaseURL,
		Failures:         a.failures,
		Stopping:         a.stopping,
		Log:              a.log,
	}
	if management.OpenID, err = a.openIDProvider(now); err != nil {
		return err
	}
	if limits.management != nil {
		management.Rate, management.SessionRate = limits.management, limits.sessions
	}
	if a.callStats.requestLog != nil {
		management.Calls, management.APIs = a.callStats.requestLog, a.callStats.apis
	}
	management.Overviews = a.newOverview(now)
	a.local = a.newLocalHandler(management.Overviews)
	a.handler = a.routes(routeHandlers{
		versions: versions,
		join: join.NewHandler(a.rooms.Joining, a.rooms.Moderation, a.checks, a.projects, limits.joinLimits(), a.refusals,
			now),
		manage:    manage.NewHandler(management),
		openID:    manage.NewOpenIDHandler(management),
		signaling: a.engine.Handler(),
		docs:      docs,
		console:   console,
		landing:   landing,
		embed:     embedScript,
		page:      roomPage,
		calendar:  site.NewCalendar(a.rooms.Joining),
	}, trusted)
	return nil
}

// BaseURL returns the URL at which browsers reach the service.
func (a *App) BaseURL() string { return a.baseURL }

// Run serves until ctx ends, then stops. If there are other nodes, it first hands over its meetings, within
// --stop-within. After that it stops within ten seconds: it refuses new work, finishes requests in flight, notifies
// participants and flushes buffers. It writes the messages of the start, such as the URL, to out.
func (a *App) Run(ctx context.Context, demo bool, out io.Writer) error {
	defer a.Close()
	starting := db.WithWriteTimeout(ctx, startupWriteTimeout)
	// First, because with Redis the other nodes send participants as soon as the engine has started.
	if err := a.rooms.Register(starting); err != nil {
		return fmt.Errorf("register the node: %w", err)
	}
	scheduled, err := a.start(ctx, starting, demo, out)
	if err != nil {
		a.stopEngine()
		a.deregisterNode() // so that it does not look like a node that was lost
		return err
	}
	a.scheduled = scheduled
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	var work, presence sync.WaitGroup
	if a.redis != nil {
		work.Go(func() { a.redis.Run(background, a.keys) })
		work.Go(func() { a.keepFindings(background, time.Now) })
	}
	presence.Go(func() { a.rooms.Run(background) })
	if !a.isolated {
		work.Go(func() { a.sender.Run(a.withServiceOrigin(background)) })
		work.Go(func() { a.runRetention(a.withServiceOrigin(background)) })
	}
	if scheduled != nil {
		work.Go(func() { scheduled.run(a.withServiceOrigin(background)) })
	}
	work.Go(func() { a.callStats.run(background, a.tasks) })
	work.Go(func() { a.runJanitor(background) })
	if a.cfg.RetentionAudit > 0 {
		work.Go(func() { a.runAuditPruner(background) })
	}
	work.Go(func() { a.sampleBacklog(background) })
	if a.certificate != nil {
		work.Go(func() { a.certificate.Run(background) })
		work.Go(func() { a.watchCertificate(background) })
	}

	servers, listeners := a.publicServers()
	if a.MetricsListener != nil {
		metrics := a.server(httpx.ReadOnly(a.withLive(a.metricsHandler())))
		metrics.WriteTimeout = connlimit.WriteTimeout // because its listener sets none
		servers, listeners = append(servers, metrics), append(listeners, a.MetricsListener)
	}
	if l := a.listenLocal(); l != nil {
		local := a.server(a.local)
		local.WriteTimeout = connlimit.WriteTimeout
		servers, listeners = append(servers, local), append(listeners, l)
	}
	failed := make(chan error, len(servers)+1)
	if a.edge != nil {
		go func() {
			if err := a.edge.Serve(); err != nil {
				failed <- fmt.Errorf("serve %s: %w", a.Listener.Addr(), err)
			}
		}()
	}
	for i, s := range servers {
		go func() {
			if err := s.Serve(listeners[i]); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", listeners[i].Addr(), err)
			}
		}()
	}
	a.ready.Store(true)
	a.supervisor.Ready()
	if !a.isolated {
		work.Go(func() { a.machine.run(background) })
	}
	a.log.Info("ready", "url", a.BaseURL(), "listen", a.Listener.Addr().String(), "node",
		a.rooms.NodeID(), "data_dir", a.cfg.DataDir)

	select {
	case <-ctx.Done():
		a.markStopping()
		a.drain()
		a.log.Info("stopping, finishing requests in flight")
	case err = <-failed:
		a.markStopping()
	}
	close(a.stopping)
	a.shutdown(servers)
	stopBackground()
	presence.Wait()
	a.deregisterNode() // at once, because the node has sent its last heartbeat
	work.Wait()
	a.log.Info("stopped")
	return err
}

// markStopping makes /healthz 503, and other processes and systemd wait for the end of this one.
func (a *App) markStopping() {
	a.supervisor.Stopping(StopTimeout(a.cfg))
	a.ready.Store(false)
	a.MarkStopping()
	if a.instanceLock != nil {
		a.instanceLock.MarkStopping()
	}
}

// Close releases the resources that New acquired. It may be called more than
// once.
func (a *App) Close() {
	if a.engine != nil {
		a.stopEngine()
	}
	if a.db != nil {
		_ = a.db.Close()
	}
	if a.instanceLock != nil {
		a.instanceLock.Release()
	}
	if a.redis != nil {
		_ = a.redis.Close()
	}
	a.Release()
}

// start does what can fail before the service runs: it starts the media engine, continues the rooms of the last run,
// and creates or checks what belongs to the installation.
func (a *App) start(ctx, starting context.Context, demo bool, out io.Writer) (*scheduledBackups, error) {
	if err := a.engine.Start(ctx, a.rooms.Presence, a.rooms.Presence); err != nil {
		return nil, err
	}
	if err := a.rooms.Recover(starting); err != nil {
		return nil, fmt.Errorf("recover the rooms of the last run: %w", err)
	}
	if err := a.quickstart.Ensure(starting, demo, out); err != nil {
		return nil, err
	}
	for _, text := range a.missing {
		fmt.Fprintln(out, text)
	}
	// Only now, because Ensure refuses a database that the quickstart file does not belong to.
	id, err := instance.RecordDatabaseID(starting, a.db, a.cfg.DataDir)
	if err != nil {
		return nil, err
	}
	a.installation.Store(new(doctor.HashID(id)))
	return a.scheduledBackups(starting)
}

// stopEngine stops the media engine without handing over its meetings.
func (a *App) stopEngine() {
	ctx, cancel := context.WithTimeout(context.Background(), mediaShutdownTimeout)
	defer cancel()
	a.engine.Stop(ctx)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
