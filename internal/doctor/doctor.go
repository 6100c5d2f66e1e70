// Package doctor checks a machine and the settings of a server for what would keep people from
// meeting. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"time"

	"parley/internal/config"
)

// Level is the severity of a finding.
type Level string

// The levels of findings.
const (
	Error   Level = "error"   // people cannot meet, or secrets are exposed
	Warning Level = "warning" // it works, and fails or is slow under load or later
)

// Finding is something to change.
type Finding struct {
	ID    string `json:"id"` // stable, such as udp_receive_buffer
	Level Level  `json:"level"`
	Text  string `json:"text"` // one sentence
	// Change is the one line to change: a command, or a setting with its value.
	Change string `json:"change"`
}

// Result is the outcome of one check.
type Result struct {
	Check    string    `json:"check"`             // stable, such as udp_buffers
	Detail   string    `json:"detail,omitempty"`  // what is fine
	Unknown  string    `json:"unknown,omitempty"` // why it cannot be decided here
	Findings []Finding `json:"findings,omitempty"`
}

// Report are the outcomes of all checks, in order.
type Report struct {
	Checks []Result `json:"checks"`
}

// Worst returns the highest level of the findings, or an empty one.
func (r Report) Worst() (worst Level) {
	for _, result := range r.Checks {
		for _, f := range result.Findings {
			if f.Level == Error {
				return Error
			}
			worst = f.Level
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
}{
	{"media_address", checkMediaAddress},
	{"public_address", checkPublicAddress},
	{"proxy", checkProxy},
	{"certificate", checkCertificate},
	{"master_key", checkMasterKey},
	{"open_files", checkOpenFiles},
	{"udp_buffers", checkUDPBuffers},
	{"proc", checkProc},
	{"clock", checkClock},
	{"disk", checkDisk},
	{"backups", checkBackups},
}

// Run runs all checks with valid settings of a server, which need not run.
func Run(ctx context.Context, cfg config.Config) Report {
	report := Report{Checks: make([]Result, len(checks))}
	for i, c := range checks {
		report.Checks[i] = runCheck(ctx, cfg, c.run)
		report.Checks[i].Check = c.name
	}
	return report
}

func runCheck(ctx context.Context, cfg config.Config, run func(context.Context, config.Config) Result) Result {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	done := make(chan Result, 1)
	go func() { done <- run(ctx, cfg) }()
	select {
	case result := <-done:
		return result
	case <-ctx.Done():
		return unknown("there was no result within %s", checkTimeout)
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
func found(id string, level Level, change, format string, arguments ...any) Result {
	return Result{Findings: []Finding{{ID: id, Level: level, Text: fmt.Sprintf(format, arguments...), Change: change}}}
}
