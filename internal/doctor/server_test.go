package doctor

import (
	"slices"
	"testing"
)

// reportOf returns a report with the results of some checks, and those of the running server.
func reportOf(results ...Result) Report {
	for _, name := range []string{WebhooksCheck, ParticipantsCheck, ServerCheck} {
		result := onlyServer()
		result.Check = name
		results = append(results, result)
	}
	return Report{Checks: results}
}

// named returns a result with the name of its check.
func named(name string, r Result) Result {
	r.Check = name
	return r
}

// All that the running server has found is in the report once: what the checks of the machine have decided later is not
// overwritten by it, and a finding with the cause replaces one without.
func TestAddFromServer(t *testing.T) {
	t.Parallel()
	overdue := found("backup_overdue", Warning, "Start the server.", "The newest backup is old.")
	slow := found("udp_receive_buffer", Warning, "sysctl", "Small.")
	unavailable := found("server_unavailable", Error, "parley status", "It cannot take work.")
	finding := func(id string, level Level) Finding { return Finding{ID: id, Level: level, Text: "T.", Change: "C."} }
	for _, c := range []struct {
		name   string
		report Report
		found  []Finding
		want   []string // check, ID and text of the findings, or check and detail
		worst  Level
	}{
		{"nothing", reportOf(named("certificate", onlyServer())), nil,
			[]string{"certificate: the running server finds nothing wrong",
				"server: the running server finds nothing wrong"}, ""},
		{"no certificate", reportOf(named("certificate", onlyServer())), []Finding{finding("certificate_missing", Error)},
			[]string{"certificate certificate_missing T."}, Error},
		{"files that cannot be used", reportOf(named("certificate", found("certificate_file", Error, "C.", "F."))),
			[]Finding{finding("certificate_missing", Error)}, []string{"certificate certificate_missing T."}, Error},
		{"the certificate of the server", reportOf(named("certificate", onlyServer())),
			[]Finding{finding("certificate_expires", Warning)}, []string{"certificate certificate_expires T."}, Warning},
		{"the certificate of a proxy, renewed since",
			reportOf(named("public_address", Result{Detail: "it responds", sawCertificate: true})),
			[]Finding{finding("certificate_expires", Warning)}, []string{"public_address: it responds"}, ""},
		{"two ports", reportOf(named("ports", fine("the server runs"))),
			[]Finding{finding("port", Warning), finding("port", Error)}, []string{"ports port T.", "ports port T."}, Error},
		{"the cause of an old backup", reportOf(named("backups", overdue)), []Finding{finding("backup_overdue", Warning)},
			[]string{"backups backup_overdue T."}, Warning},
		{"why it cannot take work", reportOf(named("public_address", unavailable)),
			[]Finding{finding("media_unavailable", Error)},
			[]string{"public_address: see the findings of the running server", "server media_unavailable T."}, Error},
		{"repaired since", reportOf(named("udp_buffers", fine("large"))), []Finding{finding("udp_receive_buffer", Warning)},
			[]string{"udp_buffers: large"}, ""},
		{"still there", reportOf(named("udp_buffers", slow)), []Finding{finding("udp_receive_buffer", Warning)},
			[]string{"udp_buffers udp_receive_buffer Small."}, Warning},
		{"not known here", reportOf(named("udp_buffers", unknown("?"))), []Finding{finding("udp_receive_buffer", Warning)},
			[]string{"udp_buffers udp_receive_buffer T."}, Warning},
		{"the limit of the server", reportOf(named("open_files", fine("many"))), []Finding{finding("open_files", Warning)},
			[]string{"open_files open_files T."}, Warning},
		{"Redis from the server", reportOf(named("redis", fine("it responds"))), []Finding{finding("redis_unavailable", Error)},
			[]string{"redis redis_unavailable T."}, Error},
		{"what only the server knows", reportOf(), []Finding{finding("webhook_target_paused", Warning),
			finding("versions_differ", Note), finding("new_in_another_release", Note)},
			[]string{"webhooks webhook_target_paused T.", "server versions_differ T.", "server new_in_another_release T."},
			Warning},
		{"a note", reportOf(), []Finding{finding("versions_differ", Note)}, []string{"server versions_differ T."}, Note},
	} {
		c.report.AddFromServer(c.found, nil)
		var got []string
		for _, result := range c.report.Checks {
			for _, f := range result.Findings {
				got = append(got, result.Check+" "+f.ID+" "+f.Text)
			}
			if len(result.Findings) == 0 {
				got = append(got, result.Check+": "+result.Detail+result.Unknown)
			}
		}
		for _, want := range c.want {
			i := slices.Index(got, want)
			if i < 0 {
				t.Errorf("%s: got the report %q, want %q in it", c.name, got, want)
				continue
			}
			got = slices.Delete(got, i, i+1)
		}
		if got := c.report.Worst(); got != c.worst {
			t.Errorf("%s: got the worst level %q, want %q", c.name, got, c.worst)
		}
	}
}
