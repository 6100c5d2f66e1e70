package metrics

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// scrapes are the series of two scrapes of one server. It implements storage.Queryable.
type scrapes struct {
	ctx      context.Context
	engine   *promql.Engine
	times    [2]time.Time
	series   map[uint64]*series // by the hash of their labels
	counters map[string]bool    // names of the series that only grow
}

// series is one series with its samples. It implements storage.Series.
type series struct {
	labels   labels.Labels
	chunk    *chunkenc.XORChunk
	appender chunkenc.Appender
}

// Labels implements storage.Series.
func (s *series) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *series) Iterator(it chunkenc.Iterator) chunkenc.Iterator { return s.chunk.Iterator(it) }

func newScrapes(t *testing.T, now time.Time) *scrapes {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: 10 * time.Second, Parser: promQL})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return &scrapes{
		ctx:      t.Context(),
		engine:   engine,
		times:    [2]time.Time{now, now.Add(scrapeInterval)},
		series:   map[uint64]*series{},
		counters: map[string]bool{},
	}
}

// add adds the metrics of one scrape as Prometheus does: with the labels of the target, and
// with the series up.
func (s *scrapes) add(t *testing.T, at time.Time, text string) {
	t.Helper()
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("promtool check metrics: got %v, %v, want no problems", problems, err)
	}
	decoder := expfmt.NewDecoder(strings.NewReader(text), expfmt.NewFormat(expfmt.TypeTextPlain))
	for {
		var family dto.MetricFamily
		err := decoder.Decode(&family)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		options := expfmt.DecodeOptions{Timestamp: model.TimeFromUnixNano(at.UnixNano())}
		samples, err := expfmt.ExtractSamples(&options, &family)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range samples {
			name := string(v.Metric[model.MetricNameLabel])
			s.counters[name] = family.GetType() == dto.MetricType_COUNTER || name != family.GetName()
			s.addSample(t, v.Metric, at, float64(v.Value))
		}
	}
	s.addSample(t, model.Metric{model.MetricNameLabel: "up"}, at, 1)
}

func (s *scrapes) addSample(t *testing.T, metric model.Metric, at time.Time, value float64) {
	t.Helper()
	b := labels.NewBuilder(labels.FromStrings("job", "parley", "instance", "node-1"))
	for name, value := range metric {
		b.Set(string(name), string(value))
	}
	l := b.Labels()
	of := s.series[l.Hash()]
	if of == nil {
		of = &series{labels: l, chunk: chunkenc.NewXORChunk()}
		var err error
		if of.appender, err = of.chunk.Appender(); err != nil {
			t.Fatal(err)
		}
		s.series[l.Hash()] = of
	}
	of.appender.Append(0, at.UnixMilli(), value)
}

// selectSeries returns the series that match.
func (s *scrapes) selectSeries(matchers []*labels.Matcher) []*series {
	var found []*series
	for _, one := range s.series {
		matches := func(m *labels.Matcher) bool { return m.Matches(one.labels.Get(m.Name)) }
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !matches(m) }) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
	return found
}

// Querier implements storage.Queryable.
func (s *scrapes) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &seriesSet{SeriesSet: storage.EmptySeriesSet(), rest: s.selectSeries(matchers)}
		},
	}, nil
}

// seriesSet implements storage.SeriesSet.
type seriesSet struct {
	storage.SeriesSet // of the other methods: no error and no warnings
	current           *series
	rest              []*series
}

// Next implements storage.SeriesSet.
func (s *seriesSet) Next() bool {
	if len(s.rest) == 0 {
		return false
	}
	s.current, s.rest = s.rest[0], s.rest[1:]
	return true
}

// At implements storage.SeriesSet.
func (s *seriesSet) At() storage.Series { return s.current }
