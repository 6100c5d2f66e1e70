package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
)

// alertsAt is the time of the scrapes on which the alert rules are tried.
var alertsAt = time.Unix(1_795_000_000, 0)

// secondsAgo is the value of a metric that has a time.
func secondsAgo(seconds int64) float64 { return float64(alertsAt.Unix() - seconds) }

// samples are the values of series at two scrapes, by the series as PromQL writes it.
type samples map[string][2]float64

// always is a series with the same value at both scrapes.
func always(value float64) [2]float64 { return [2]float64{value, value} }

// grows is a counter that begins at 0 and has a value at the second scrape.
func grows(to float64) [2]float64 { return [2]float64{0, to} }

const day = 86400

// alertCases have for each rule series for which it fires, with the summary, and series for which it must not, often
// just below its threshold.
var alertCases = map[string][]struct {
	series  samples
	summary string // empty if the rule does not fire
}{
	"ParleyDown": {
		{samples{"up": always(0)}, "Parley at node-1 does not answer"},
		{samples{"up": always(1), `up{job="other"}`: always(0)}, ""},
	},
	"ParleyPartDown": {
		{samples{`parley_health{part="redis"}`: always(0), `parley_health{part="media"}`: always(1)},
			"redis does not work for Parley at node-1"},
		{samples{`parley_health{part="redis"}`: always(1)}, ""},
	},
	"ParleyCertificateExpires": {
		{samples{"parley_certificate_expires_seconds": always(13 * day),
			"parley_certificate_validity_seconds": always(90 * day)},
			"A certificate of Parley at node-1 expires soon or is missing"},
		{samples{"parley_certificates_missing": always(1)},
			"A certificate of Parley at node-1 expires soon or is missing"},
		{samples{"parley_certificate_expires_seconds": always(15 * day),
			"parley_certificate_validity_seconds": always(90 * day), "parley_certificates_missing": always(0)}, ""},
		// One that is valid for six days is renewed when it has two left.
		{samples{"parley_certificate_expires_seconds": always(2 * day),
			"parley_certificate_validity_seconds": always(6 * day)}, ""},
	},
	"ParleyCrashed": {
		{samples{"parley_restarts_total": grows(1)}, "Parley at node-1 has crashed and was restarted"},
		{samples{"parley_restarts_total": always(1)}, ""},
	},
	"ParleyCrashLoop": {
		{samples{"parley_crash_loop": always(1)}, "Parley at node-1 crashes again and again"},
		{samples{"parley_crash_loop": always(0)}, ""},
	},
	"ParleyServerErrors": {
		{samples{
			`parley_http_request_duration_seconds_count{status="5xx",route="/api/v5/keys"}`: grows(6),
			`parley_http_request_duration_seconds_count{status="2xx",route="/api/v5/keys"}`: grows(94),
		}, "6% of the requests fail in the server"},
		{samples{
			`parley_http_request_duration_seconds_count{status="5xx",route="/api/v5/keys"}`: grows(5),
			`parley_http_request_duration_seconds_count{status="2xx",route="/api/v5/keys"}`: grows(95),
			`parley_http_request_duration_seconds_count{status="5xx",route="probe"}`:        grows(100),
		}, ""},
	},
	"ParleySlowRequests": {
		{samples{
			`parley_http_request_duration_seconds_bucket{route="/api/v5/keys",le="1"}`:    grows(90),
			`parley_http_request_duration_seconds_bucket{route="/api/v5/keys",le="2"}`:    grows(100),
			`parley_http_request_duration_seconds_bucket{route="/api/v5/keys",le="+Inf"}`: grows(100),
		}, "5% of the API requests take longer than 1.5s"},
		{samples{
			`parley_http_request_duration_seconds_bucket{route="/api/v5/keys",le="1"}`:    grows(96),
			`parley_http_request_duration_seconds_bucket{route="/api/v5/keys",le="+Inf"}`: grows(100),
			`parley_http_request_duration_seconds_bucket{route="room page",le="1"}`:       grows(0),
			`parley_http_request_duration_seconds_bucket{route="room page",le="+Inf"}`:    grows(100),
		}, ""},
	},
	"ParleyFewOpenFiles": {
		{samples{"process_open_fds": always(81), "process_max_fds": always(100)},
			"Parley at node-1 uses 81% of its open files"},
		{samples{"process_open_fds": always(80), "process_max_fds": always(100)}, ""},
	},
	"ParleyConnectionsRefused": {
		{samples{`parley_refusals_total{kind="address_connections"}`: grows(100)},
			"Parley refuses connections: the limit address_connections is reached"},
		{samples{`parley_refusals_total{kind="connections"}`: grows(50),
			`parley_refusals_total{kind="new_seats"}`: grows(1000)}, ""},
	},
	"ParleyWritesFail": {
		{samples{`parley_database_write_duration_seconds_count{outcome="unavailable"}`: grows(1)},
			"Parley at node-1 cannot write to the database"},
		{samples{`parley_database_write_duration_seconds_count{outcome="unavailable"}`: always(1),
			`parley_database_write_duration_seconds_count{outcome="committed"}`: grows(50)}, ""},
	},
	"ParleyWritesSlow": {
		{samples{
			`parley_database_write_duration_seconds_bucket{outcome="committed",le="0.5"}`:  grows(90),
			`parley_database_write_duration_seconds_bucket{outcome="committed",le="1"}`:    grows(100),
			`parley_database_write_duration_seconds_bucket{outcome="committed",le="+Inf"}`: grows(100),
		}, "5% of the writes take longer than 750ms on node-1"},
		{samples{
			`parley_database_write_duration_seconds_bucket{outcome="committed",le="0.5"}`:  grows(96),
			`parley_database_write_duration_seconds_bucket{outcome="committed",le="+Inf"}`: grows(100),
		}, ""},
	},
	"ParleyJoinsFail": {
		{samples{`parley_join_failures_total{cause="not_connected"}`: grows(10), "parley_joins_total": grows(40)},
			"20% of the people who join a meeting get no media"},
		{samples{`parley_join_failures_total{cause="not_connected"}`: grows(10), "parley_joins_total": grows(100)}, ""},
		// Of few people, one with a bad network is a large part.
		{samples{`parley_join_failures_total{cause="not_connected"}`: grows(5), "parley_joins_total": grows(5)}, ""},
	},
	"ParleyMediaSlow": {
		{samples{
			`parley_time_to_media_seconds_bucket{le="5"}`:    grows(80),
			`parley_time_to_media_seconds_bucket{le="10"}`:   grows(100),
			`parley_time_to_media_seconds_bucket{le="+Inf"}`: grows(100),
		}, "10% of the joins take longer than 7.5s until media is connected"},
		{samples{
			`parley_time_to_media_seconds_bucket{le="5"}`:    grows(91),
			`parley_time_to_media_seconds_bucket{le="+Inf"}`: grows(100),
		}, ""},
	},
	"ParleySeatsUnavailable": {
		{samples{`parley_seat_rejections_total{cause="unavailable"}`: grows(1)},
			"People cannot join, because the server has an error"},
		{samples{`parley_seat_rejections_total{cause="room_not_found"}`: grows(100)}, ""},
	},
	"ParleySeatLimitReached": {
		{samples{`parley_seat_rejections_total{cause="too_many_joins"}`: grows(100)},
			"People cannot join, because too many come from one address"},
		{samples{`parley_seat_rejections_total{cause="too_many_joins"}`: grows(50)}, ""},
	},
	"ParleyWebhooksOverdue": {
		{samples{"parley_webhook_overdue_seconds": always(301)}, "Webhooks are sent 5m 1s later than planned"},
		{samples{"parley_webhook_overdue_seconds": always(300)}, ""},
	},
	"ParleyWebhookBacklog": {
		{samples{"parley_webhook_pending_deliveries": always(5000)}, "5000 webhook deliveries are pending"},
		{samples{"parley_webhook_pending_deliveries": always(4999)}, ""},
	},
	"ParleyWebhookTargetsPaused": {
		{samples{"parley_webhook_paused_targets": always(2)}, "2 webhook receivers are paused"},
		{samples{"parley_webhook_paused_targets": always(0)}, ""},
	},
	"ParleyWebhooksLost": {
		{samples{`parley_webhook_attempts_total{outcome="gone"}`: grows(1)}, "Webhook deliveries were given up"},
		{samples{`parley_webhook_attempts_total{outcome="gone"}`: always(1),
			`parley_webhook_attempts_total{outcome="delivered"}`: grows(9)}, ""},
	},
	"ParleyUsageNotRolledUp": {
		{samples{"parley_usage_rolled_up_timestamp_seconds": always(0)},
			"The usage has not been rolled up since the start of the server"},
		{samples{"parley_usage_rolled_up_timestamp_seconds": always(secondsAgo(4 * 3600))},
			"The usage has not been rolled up for 4h 0m 15s"},
		{samples{"parley_usage_rolled_up_timestamp_seconds": always(secondsAgo(2 * 3600))}, ""},
	},
	"ParleyRequestLogDropsCalls": {
		{samples{"parley_diagnostics_dropped_total": grows(1)}, "Parley at node-1 loses records of API calls"},
		{samples{"parley_diagnostics_dropped_total": always(1)}, ""},
	},
	"ParleyBackgroundTaskFails": {
		{samples{`parley_background_task_failing{task="delete_old_data"}`: always(1)},
			"A background task of Parley at node-1 fails: delete_old_data"},
		{samples{`parley_background_task_failing{task="delete_old_data"}`: always(0)}, ""},
	},
	"ParleyBackupFailed": {
		{samples{"parley_backup_failures_total": grows(1)}, "A scheduled backup has failed at node-1"},
		{samples{"parley_backup_failures_total": always(1)}, ""},
	},
	"ParleyBackupOld": {
		{samples{"parley_backup_age_seconds": always(3 * day)}, "The newest backup is 3d 0h 0m 0s old"},
		{samples{"parley_backup_age_seconds": always(2 * day)}, ""},
	},
}

// Every alert rule fires for what it names, with a text that says so, and not for the usual state beside it.
func TestRules_Fire(t *testing.T) {
	rules := map[string]rulefmt.Rule{}
	for _, r := range alertRules(t) {
		rules[r.Alert] = r
		fires, silent := false, false
		for _, c := range alertCases[r.Alert] {
			fires, silent = fires || c.summary != "", silent || c.summary == ""
		}
		if !fires || !silent {
			t.Errorf("rule %s: want a case in which it fires, and one in which it does not", r.Alert)
		}
	}
	for name, cases := range alertCases {
		rule, known := rules[name]
		if !known {
			t.Errorf("the cases of %s: got no such rule, want one", name)
		}
		for _, c := range cases {
			s := newScrapes(t, alertsAt)
			for metric, values := range c.series {
				parsed, err := promQL.ParseMetric(metric)
				if err != nil {
					t.Fatal(err)
				}
				all := model.Metric{}
				parsed.Range(func(l labels.Label) { all[model.LabelName(l.Name)] = model.LabelValue(l.Value) })
				for i, at := range s.times {
					s.addSample(t, all, at, values[i])
				}
			}
			result, err := s.evaluate(rule.Expr)
			if err != nil || len(result) != min(len(c.summary), 1) {
				t.Errorf("%s with %v: got %v, %v, want an alert: %t", name, c.series, result, err, c.summary != "")
				continue
			}
			for _, fired := range result {
				got := s.expand(t, rule.Annotations["summary"], fired)
				if got != c.summary {
					t.Errorf("%s with %v: got the summary %q, want %q", name, c.series, got, c.summary)
				}
				s.expand(t, rule.Annotations["description"], fired)
			}
		}
	}
}

// expand returns an annotation of an alert as Prometheus writes it.
func (s *scrapes) expand(t *testing.T, text string, fired promql.Sample) string {
	t.Helper()
	const definitions = "{{$labels := .Labels}}{{$value := .Value}}"
	data := template.AlertTemplateData(fired.Metric.Map(), nil, "", fired)
	expander := template.NewTemplateExpander(s.ctx, definitions+text, "annotation", data,
		model.TimeFromUnix(alertsAt.Unix()), nil, nil, nil)
	expanded, err := expander.Expand()
	if err != nil || strings.Contains(expanded, "<no value>") {
		t.Errorf("the annotation %q: got %q, %v, want a text", text, expanded, err)
	}
	return expanded
}
