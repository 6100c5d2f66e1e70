// Package doctor checks a machine and the settings of a server for what would keep people from
// meeting. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"parley/internal/config"
)

// Level is the severity of a finding.
type Level string

// The levels of findings.
const (
	Error   Level = "error"   // people cannot meet, or secrets are exposed
	Warning Level = "warning" // it works, and fails or is slow under load or later
	Note    Level = "note"    // it works, but an operator should know about it
)

// Finding is something to change.
type Finding struct {
	ID    string `json:"id"` // stable, such as udp_receive_buffer
	Level Level  `json:"level"`
	Text  string `json:"text"` // one sentence
	// Change is the one line to change: a command, or a setting with its value.
	Change string `json:"change"`
	// Transient says that it may be due to a moment, such as the start of a proxy. Only RunInServer sets it.
	Transient bool `json:"-"`
}

// Result is the outcome of one check.
type Result struct {
	Check    string    `json:"check"`             // stable, such as udp_buffers
	Detail   string    `json:"detail,omitempty"`  // what is fine
	Unknown  string    `json:"unknown,omitempty"` // why it cannot be decided here
	Findings []Finding `json:"findings,omitempty"`

	onlyServer     bool // the running server decides it
	sawCertificate bool // it says whether the certificate of a proxy expires
}

// Report are the outcomes of all checks, in order.
type Report struct {
	Checks []Result `json:"checks"`
}

// Worst returns the highest level of the findings, or an empty one.
func (r Report) Worst() (worst Level) {
	order := []Level{"", Note, Warning, Error}
	for _, result := range r.Checks {
		for _, f := range result.Findings {
			if slices.Index(order, f.Level) > slices.Index(order, worst) {
				worst = f.Level
			}
		}
	}
	return worst
}

// checkTimeout bounds one check, such as that of a disk that does not respond.
const checkTimeout = 10 * time.Second

// checks are all checks, in the order of the report.
var checks = []struct {
	name string
	run  func(context.Context, config.Config) Result
	// notInServer says that a running server does not make the check: it finds the same by itself whenever it is asked,
	// or the check would disturb it.
	notInServer bool
	// slow says that Run makes the check only on demand, because it takes longer than checkTimeout.
	slow bool
	// serverFindings are the findings of a running server, from the last time that it made the check. Those that a
	// command cannot know better are in liveFindings instead.
	serverFindings []string
}{
	{name: "environment", run: checkEnvironment, notInServer: true},
	{name: "media_address", run: checkMediaAddress, serverFindings: []string{"node_ip"}},
	{name: publicAddressCheck, run: checkPublicAddress, serverFindings: []string{"public_dns", "public_dns_elsewhere",
		"public_url", "public_other_server", "public_certificate", "clock_behind", "proxy_upgrade",
		"proxy_client_address"}},
	{name: "proxy", run: checkProxy, serverFindings: []string{"trusted_proxies"}},
	{name: quietCheck, run: checkQuiet, notInServer: true, slow: true},
	{name: certificateCheck, run: checkCertificate, notInServer: true},
	{name: portsCheck, run: checkPorts, notInServer: true},
	{name: "master_key", run: checkMasterKey, notInServer: true},
	{name: "database", run: checkDatabase, serverFindings: []string{"database_version", "database_durability",
		"database_pooler", "database_clock", "database_slow"}},
	{name: "quickstart_file", run: checkQuickstart, notInServer: true},
	{name: "database_file", run: checkDatabaseFile, notInServer: true},
	{name: redisCheck, run: checkRedis, serverFindings: []string{"redis_version", "redis_eviction", "redis_clock",
		"redis_slow"}},
	{name: openFilesCheck, run: checkOpenFiles},
	{name: memoryCheck, run: checkMemory},
	{name: processorsCheck, run: checkProcessors},
	{name: "udp_buffers", run: checkUDPBuffers, serverFindings: []string{"udp_receive_buffer"}},
	{name: "proc", run: checkProc, notInServer: true},
	{name: "clock", run: checkClock, serverFindings: []string{"clock_unsynchronized"}},
	{name: "disk", run: checkDisk, serverFindings: []string{"network_file_system", "disk_space",
		"data_dir_read_only"}},
	{name: "disk_speed", run: checkDiskSpeed, notInServer: true},
	{name: backupsCheck, run: checkBackups, notInServer: true},
	{name: "backup_drill", run: checkDrill, serverFindings: []string{"backup_unverified"}},
	{name: WebhooksCheck, run: askServer, notInServer: true},
	{name: ParticipantsCheck, run: askServer, notInServer: true},
	{name: ServerCheck, run: askServer, notInServer: true},
}

// Run runs all checks with valid settings of a server, which need not run. Those that take long run only if slow is
// true.
func Run(ctx context.Context, cfg config.Config, slow bool) Report {
	var report Report
	for _, c := range checks {
		timeout := checkTimeout
		if c.slow {
			timeout += QuietTime
		}
		if c.slow && !slow {
			continue
		}
		result := runCheckWithin(ctx, timeout, cfg, c.run)
		result.Check = c.name
		report.Checks = append(report.Checks, result)
	}
	return report
}

// IsLocal reports whether only its own machine reaches a server, as in a trial.
func IsLocal(cfg config.Config) bool { return isLocal(publicHost(cfg)) }

// RunInServer returns the findings for a server that runs in this process, without those that it reports
// by itself.
func RunInServer(ctx context.Context, cfg config.Config) (findings []Finding) {
	for _, c := range checks {
		if c.notInServer {
			continue
		}
		for _, f := range runCheck(ctx, cfg, c.run).Findings {
			f.Transient = c.name == publicAddressCheck
			isKnown := func(known Finding) bool { return known.ID == f.ID }
			if !slices.Contains(ownFindings, f.ID) && !slices.ContainsFunc(findings, isKnown) {
				findings = append(findings, f)
			}
		}
	}
	return findings
}

// The names of checks that are named elsewhere, too.
const (
	publicAddressCheck = "public_address"
	quietCheck         = "proxy_idle"
	certificateCheck   = "certificate"
	portsCheck         = "ports"
	redisCheck         = "redis"
	openFilesCheck     = "open_files"
	memoryCheck        = "memory"
	processorsCheck    = "processors"
	backupsCheck       = "backups"
)

// ownFindings are the findings that a running server reports by itself, of checks that have others.
var ownFindings = []string{"server_unavailable", "database_unavailable", "database_standby", "redis_unavailable"}

func runCheck(ctx context.Context, cfg config.Config, run func(context.Context, config.Config) Result) Result {
	return runCheckWithin(ctx, checkTimeout, cfg, run)
}

func runCheckWithin(ctx context.Context, timeout time.Duration, cfg config.Config,
	run func(context.Context, config.Config) Result) Result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	done := make(chan Result, 1)
	go func() { done <- run(ctx, cfg) }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
		return unknown("there was no result within %s", timeout)
	}
}

// fine returns the result of a check without findings.
func fine(format string, arguments ...any) Result {
	return Result{Detail: fmt.Sprintf(format, arguments...)}
}

// unknown returns the result of a check that cannot be decided here.
func unknown(format string, arguments ...any) Result {
	return Result{Unknown: fmt.Sprintf(format, arguments...)}
}

// found returns the result of a check with one finding.
func found(id string, level Level, change, format string, arguments ...any) (r Result) {
	r.add(id, level, change, format, arguments...)
	return r
}

// add adds a finding.
func (r *Result) add(id string, level Level, change, format string, arguments ...any) {
	r.Findings = append(r.Findings,
		Finding{ID: id, Level: level, Text: fmt.Sprintf(format, arguments...), Change: change})
}
