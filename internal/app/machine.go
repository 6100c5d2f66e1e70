package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/internal/config"
	"parley/internal/doctor"
	"parley/internal/metrics"
)

const (
	// machineInterval is the time between two checks of the machine and the settings.
	machineInterval = time.Hour
	// machineRetry is the same after a check with findings, so that what was repaired goes away soon.
	machineRetry = time.Minute
	// participantsMaxAge is how long a finding about participants stays without enough new ones.
	participantsMaxAge = 24 * time.Hour
)

// machine checks the machine and the settings of this server while it runs, as parley doctor does.
type machine struct {
	cfg      config.Config // with the public URL and the announced addresses
	log      *slog.Logger
	metric   *prometheus.GaugeVec
	media    *metrics.Media
	udpPort  int                              // for media; 0 if the engine could not open it
	findings atomic.Pointer[[]doctor.Finding] // of the last check; nil before the first

	unconfirmed    []string                 // IDs of the transient findings of the last check
	seen           metrics.MediaConnections // at the end of the last period with enough participants
	ofParticipants []doctor.Finding         // of that period
	periodEnd      time.Time                // of that period
}

func (a *App) newMachine() *machine {
	m := &machine{cfg: a.cfg, log: a.log, media: a.metrics.Media, metric: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parley_doctor_findings", Help: "Findings of parley doctor about this machine and its settings.",
	}, []string{"finding", "level"})}
	m.cfg.PublicURL, m.udpPort = a.baseURL, a.cfg.RTCUDPPort
	for _, failure := range a.engine.UnopenedPorts() {
		if failure.Protocol == "UDP" {
			m.udpPort = 0
		}
	}
	if len(a.cfg.NodeIPs()) == 0 { // those that were detected at the start
		var announced []string
		for _, ip := range a.engine.AnnouncedIPs() {
			announced = append(announced, ip.String())
		}
		m.cfg.RTCNodeIP = strings.Join(announced, ",")
	}
	a.registry.MustRegister(m.metric)
	return m
}

// run checks at once, and then again and again until ctx ends. A server that only this machine reaches is
// a trial, and is not checked.
func (m *machine) run(ctx context.Context) {
	if doctor.IsLocal(m.cfg) {
		return
	}
	for {
		wait := machineInterval
		if m.check(ctx) {
			wait = machineRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// check logs the findings that the last check did not have. It reports whether there are any, also those
// that the next check has to confirm.
func (m *machine) check(ctx context.Context) (any bool) {
	found := doctor.RunInServer(ctx, m.cfg)
	if ctx.Err() != nil {
		return false // the checks were cut off
	}
	var confirmed []doctor.Finding
	var unconfirmed []string
	for _, f := range found {
		if f.Transient {
			unconfirmed = append(unconfirmed, f.ID)
		}
		if !f.Transient || slices.Contains(m.unconfirmed, f.ID) {
			confirmed = append(confirmed, f)
		}
	}
	m.unconfirmed = unconfirmed
	m.publish(ctx, append(confirmed, m.checkParticipants(time.Now())...))
	return len(found) > 0
}

func (m *machine) publish(ctx context.Context, found []doctor.Finding) {
	before := m.last()
	m.metric.Reset()
	for _, f := range found {
		m.metric.WithLabelValues(f.ID, string(f.Level)).Set(1)
		if slices.ContainsFunc(before, func(b doctor.Finding) bool { return b.ID == f.ID }) {
			continue
		}
		level := slog.LevelWarn
		if f.Level == doctor.Error {
			level = slog.LevelError
		}
		m.log.Log(ctx, level, "found a problem of the machine or the settings", "finding", f.ID, "text", f.Text,
			"change", f.Change)
	}
	m.findings.Store(&found)
}

// checkParticipants returns the findings of the latest period with enough participants.
func (m *machine) checkParticipants(now time.Time) []doctor.Finding {
	total := m.media.Connections()
	period := metrics.MediaConnections{UDP: total.UDP - m.seen.UDP, TCP: total.TCP - m.seen.TCP,
		NotConnected: total.NotConnected - m.seen.NotConnected}
	if findings, enough := doctor.FromParticipants(period, m.udpPort); enough {
		m.seen, m.ofParticipants, m.periodEnd = total, findings, now
	}
	if now.Sub(m.periodEnd) > participantsMaxAge {
		return nil
	}
	return m.ofParticipants
}

func (m *machine) last() []doctor.Finding {
	if found := m.findings.Load(); found != nil {
		return *found
	}
	return nil
}
