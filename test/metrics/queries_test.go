// Package metrics evaluates the queries of the dashboard and of the alert rules in deploy with
// Prometheus's own engine, on the metrics of a real server after real meetings. It is a module
// of its own, so that the server does not depend on Prometheus.
package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

const (
	dashboardFile = "../../deploy/grafana/parley.json"
	rulesFile     = "../../deploy/prometheus/alerts.yml"
)

var promQL = parser.NewParser(parser.Options{})

// query is one expression of the dashboard or of the rules.
type query struct {
	where string // for messages
	expr  string
}

// dashboardQueries returns the queries of the dashboard with Grafana's variable replaced.
func dashboardQueries(t *testing.T) []query {
	t.Helper()
	raw, err := os.ReadFile(dashboardFile)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Type    string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		t.Fatal(err)
	}
	var all []query
	for _, p := range dashboard.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q has no query", p.Title)
		}
		for _, target := range p.Targets {
			all = append(all, query{"panel " + p.Title, strings.ReplaceAll(target.Expr, "$__rate_interval", "1m")})
		}
	}
	return all
}

// alertRules returns the alert rules.
func alertRules(t *testing.T) (rules []rulefmt.Rule) {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, promQL, slog.Default())
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil {
		t.FailNow()
	}
	for _, g := range groups.Groups {
		rules = append(rules, g.Rules...)
	}
	return rules
}

// ruleQueries returns the expressions of the alert rules. Each rule must say what has happened
// and what to do.
func ruleQueries(t *testing.T) []query {
	t.Helper()
	var all []query
	for _, r := range alertRules(t) {
		severity := r.Labels["severity"]
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" ||
			severity != "page" && severity != "ticket" {
			t.Errorf("rule %s: want a summary, a description and the severity page or ticket", r.Alert)
		}
		all = append(all, query{"rule " + r.Alert, r.Expr})
	}
	return all
}

// check evaluates a query and returns what is wrong with it: a selector that selects no series,
// a rate of a metric that is no counter, or no result. A comparison needs no result, because it
// selects what is wrong with the server, but its left side does.
func (s *scrapes) check(q query) error {
	expr, err := promQL.ParseExpr(q.expr)
	if err != nil {
		return err
	}
	var problems []error
	needsResult := []parser.Expr{expr}
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			if len(s.selectSeries(n.LabelMatchers)) == 0 {
				problems = append(problems, fmt.Errorf("no series matches %s", n))
			}
		case *parser.Call:
			if n.Func.Name == "rate" || n.Func.Name == "increase" {
				problems = append(problems, s.checkCounters(n))
			}
		case *parser.BinaryExpr:
			if n.Op.IsComparisonOperator() {
				needsResult = append(needsResult, n.LHS)
			}
		}
		return nil
	})
	if compares(expr) {
		needsResult = needsResult[1:]
	}
	for _, e := range needsResult {
		if result, err := s.evaluate(e.String()); err != nil || len(result) == 0 {
			problems = append(problems, fmt.Errorf("%s: got %v, %v, want a result", e, result, err))
		}
	}
	_, err = s.evaluate(q.expr)
	return errors.Join(append(problems, err)...)
}

// compares reports whether an expression has a result only if a comparison is true.
func compares(expr parser.Expr) bool {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return compares(e.Expr)
	case *parser.BinaryExpr:
		return e.Op.IsComparisonOperator() || e.Op == parser.LAND && (compares(e.LHS) || compares(e.RHS)) ||
			e.Op == parser.LOR && compares(e.LHS) && compares(e.RHS)
	}
	return false
}

// checkCounters returns an error if a call of rate or increase selects a gauge.
func (s *scrapes) checkCounters(call *parser.Call) error {
	matrix, ok := call.Args[0].(*parser.MatrixSelector)
	if !ok {
		return nil
	}
	for _, series := range s.selectSeries(matrix.VectorSelector.(*parser.VectorSelector).LabelMatchers) {
		if name := series.labels.Get(model.MetricNameLabel); !s.counters[name] {
			return fmt.Errorf("%s of %s, which is no counter", call.Func.Name, name)
		}
	}
	return nil
}

// evaluate returns the result of an expression at the time of the second scrape.
func (s *scrapes) evaluate(expr string) (promql.Vector, error) {
	q, err := s.engine.NewInstantQuery(s.ctx, s, nil, expr, s.times[1])
	if err != nil {
		return nil, err
	}
	defer q.Close()
	result := q.Exec(s.ctx)
	if result.Err != nil {
		return nil, result.Err
	}
	if len(result.Warnings) > 0 {
		return nil, fmt.Errorf("warnings: %v", result.Warnings.AsErrors())
	}
	return result.Vector()
}

func TestQueries_OnRealSeries(t *testing.T) {
	s := scrapeServer(t)
	queries := append(dashboardQueries(t), ruleQueries(t)...)
	if len(queries) < 60 {
		t.Errorf("got %d queries, want at least 60", len(queries))
	}
	for _, q := range queries {
		if err := s.check(q); err != nil {
			t.Errorf("%s: %s\n%v", q.where, q.expr, err)
		}
	}
	s.checkFigures(t)
	for _, wrong := range []string{
		"parley_no_such_metric",
		`sum(parley_live_participants{connection="pigeon"})`,
		"rate(parley_live_rooms[1m])",
		"sum by (instance) (rate(parley_joins_total[1m])) / parley_live_participants > 0", // labels differ
		"up == 0 and sum(parley_no_such_metric) > 1",
		"sum(rate(parley_joins_total[1m]",
	} {
		if s.check(query{expr: wrong}) == nil {
			t.Errorf("the check of %s: got no error, want one", wrong)
		}
	}
}

// checkFigures compares the results of some queries with what the traffic was.
func (s *scrapes) checkFigures(t *testing.T) {
	t.Helper()
	for expr, want := range map[string]float64{
		"min(parley_health)": 1,
		"min(parley_certificate_expires_seconds) / 86400 > bool 0":               1,
		"max(parley_certificates_missing)":                                       0,
		"sum(parley_live_rooms)":                                                 1,
		`sum(parley_live_participants{connection="udp"})`:                        1,
		"sum(parley_joins_total)":                                                2,
		"sum(increase(parley_joins_total[1m])) > bool 0":                         1,
		`sum(parley_join_failures_total)`:                                        1,
		`sum(parley_seat_requests_total{outcome="reserved"})`:                    2,
		`sum(parley_seat_rejections_total{cause="room_not_found"})`:              1,
		`sum(parley_webhook_attempts_total{outcome="delivered"}) >= bool 1`:      1,
		"max(parley_webhook_paused_targets)":                                     0,
		"sum(parley_database_batch_size_count) > bool 10":                        1,
		"time() - max(parley_usage_rolled_up_timestamp_seconds) < bool 3 * 3600": 1,
		`sum(parley_http_request_duration_seconds_count{status="5xx"}) > bool 0`: 1,
		`count(parley_build_info{version="devel"})`:                              1,
		"max(parley_time_to_media_seconds_sum) < bool 30":                        1,
		`sum(parley_http_request_duration_seconds_count{route="/api/v5/keys"})`:  1,
	} {
		result, err := s.evaluate(expr)
		if err != nil || len(result) != 1 || result[0].F != want {
			t.Errorf("%s: got %v, %v, want %v", expr, result, err, want)
		}
	}
}

// scrapeInterval is the time between two scrapes of a usual Prometheus.
const scrapeInterval = 15 * time.Second
