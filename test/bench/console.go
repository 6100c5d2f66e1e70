package main

import (
	"context"
	_ "embed" // console.json
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"parley/test/bench/measure"
)

const (
	consoleGoal  = 100 // ms of server time for all requests of a page
	consoleReads = 15  // of each request
	// consoleSkips is how many pages without a match a list skips when it opens: skippedAtFirst in
	// web/console/ui/List.tsx.
	consoleSkips = 1
	// The other projects of the organization whose usage is read, and those of other organizations.
	consoleProjects, consoleOthers = 30, 5000
)

// consolePage is a page of the console with the requests that it makes when it is opened. The
// names in braces stand for IDs of the installation.
type consolePage struct {
	Name     string
	Path     *string // absent for the first one, which has the requests that every page makes
	Requests []string
}

// consolePagesJSON lists the pages. A browser test compares it with the requests that the pages really make.
//
//go:embed console.json
var consolePagesJSON []byte

// console measures the server time of each request of the console over many past meetings.
func (b *bench) console(ctx context.Context) ([]figure, error) {
	var figures []figure
	if slices.Contains(b.databases, "sqlite") {
		if err := b.consoleOn(ctx, "SQLite", nil, &figures); err != nil {
			return figures, err
		}
	}
	if !slices.Contains(b.databases, "postgres") {
		return figures, nil
	}
	if _, err := postgresBin(); err != nil {
		return figures, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	c, err := startCluster(ctx, b.dir, "console-postgres")
	if err != nil {
		return figures, err
	}
	defer c.end()
	return figures, b.consoleOn(ctx, "PostgreSQL", c, &figures)
}

func (b *bench) consoleOn(ctx context.Context, database string, c *cluster, figures *[]figure) error {
	fmt.Fprintf(os.Stderr, "filling %s with %s meetings\n", database, thousands(b.consoleMeetings))
	i, err := b.install(ctx, database, c, b.consoleMeetings)
	if err != nil {
		return err
	}
	// A SQLite database is filled without its server, whose start reads the credentials.
	start := func() error {
		i.parley, err = b.startParley(ctx, i.dir, i.databaseURL, keepEverything...)
		return err
	}
	if err := start(); err != nil {
		return err
	}
	if err := i.end(); err != nil {
		return err
	}
	if err := i.fillConsole(ctx); err != nil {
		return err
	}
	if err := start(); err != nil {
		return err
	}
	defer i.quit()
	ids, err := i.consoleIDs(ctx)
	if err != nil {
		return err
	}
	var pages []consolePage
	if err := json.Unmarshal(consolePagesJSON, &pages); err != nil {
		return fmt.Errorf("console.json: %w", err)
	}
	of := fmt.Sprintf("console, %s, %s meetings", database, thousands(b.consoleMeetings))
	ofEveryPage := 0.0
	for _, page := range pages {
		sum := ofEveryPage
		for _, path := range page.Requests {
			requests, err := i.consoleRequests(ctx, ids.Replace(path))
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			for n, request := range requests {
				took, err := i.readConsole(ctx, request)
				if err != nil {
					return fmt.Errorf("%s: %w", request, err)
				}
				sum += millis(took)
				name := "GET " + path
				if n > 0 {
					name += fmt.Sprintf(", page %d", n+1)
				}
				*figures = append(*figures, figure{Of: of, Name: name, Value: millis(took), Unit: "ms"})
			}
		}
		comment := "all requests of the page, with those of every page"
		if page.Path == nil {
			ofEveryPage, comment = sum, "the requests that every page makes"
		}
		*figures = append(*figures, figure{
			Of:      of,
			Name:    page.Name,
			Value:   sum,
			Unit:    "ms",
			Comment: comment,
		}.atMost(consoleGoal))
	}
	return i.end()
}

// fillConsole adds other projects and actions of hosts.
func (i *installation) fillConsole(ctx context.Context) error {
	const projects = `INSERT INTO projects (id, organization_id, name, status, settings, created_at)
		SELECT r.id, o.id, 'Customer ' || r.id, 'active', '{}', r.created_at
		FROM (SELECT * FROM rooms ORDER BY id DESC LIMIT %d) AS r,
			(SELECT id FROM organizations WHERE id %s '%s' LIMIT 1) AS o WHERE true ON CONFLICT DO NOTHING`
	for _, q := range []string{
		fmt.Sprintf(projects, consoleProjects, "=", i.OrganizationID),
		fmt.Sprintf(projects, consoleOthers, "<>", i.OrganizationID),
		`INSERT INTO host_actions (room_id, n, sequence, at, kind, by_seat, by_name, by_role, target_seat, target_name,
				target_role, details)
			SELECT id, 1, 2, created_at, 'host.muted', id, 'Ada', 'host', id, 'Ben', 'guest', '{"count":1}' FROM rooms`,
	} {
		if err := i.query(ctx, q); err != nil {
			return err
		}
	}
	if i.databaseURL == "" {
		return nil
	}
	return i.query(ctx, `VACUUM ANALYZE`) // as the autovacuum daemon does
}

// consoleIDs returns a replacer of the names in console.json.
func (i *installation) consoleIDs(ctx context.Context) (*strings.Replacer, error) {
	var rooms struct {
		Rooms []struct {
			ID        string    `json:"room_id"`
			CreatedAt time.Time `json:"created_at"`
		} `json:"rooms"`
	}
	var webhooks struct {
		Webhooks []struct {
			ID string `json:"delivery_id"`
		} `json:"webhooks"`
	}
	middle := time.Now().AddDate(0, -6, 0).UTC()
	const format = "2006-01-02T15:04:05.000Z" // as the console writes it
	from, to := middle.Format(format), middle.Add(time.Hour).Format(format)
	if err := i.getManagement(ctx, "/rooms?limit=1&project_id="+i.ProjectID+"&to="+to, &rooms); err != nil {
		return nil, err
	}
	if err := i.getManagement(ctx, "/webhooks?limit=1", &webhooks); err != nil {
		return nil, err
	}
	call, err := i.latestCall(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	oldCall, err := i.latestCall(ctx, time.Now().AddDate(0, 0, 1-callDays))
	if err != nil {
		return nil, err
	}
	if len(rooms.Rooms) == 0 || len(webhooks.Webhooks) == 0 {
		return nil, fmt.Errorf("got %d rooms and %d deliveries, want at least one", len(rooms.Rooms), len(webhooks.Webhooks))
	}
	return strings.NewReplacer("{project}", i.ProjectID, "{organization}", i.OrganizationID, "{room}", rooms.Rooms[0].ID,
		"{delivery}", webhooks.Webhooks[0].ID, "{call}", call, "{old-call}", oldCall, "{from}", url.QueryEscape(from),
		"{to}", url.QueryEscape(to)), nil
}

// latestCall returns the request ID of the latest call before a time.
func (i *installation) latestCall(ctx context.Context, before time.Time) (string, error) {
	var found struct {
		Calls []struct {
			RequestID string `json:"request_id"`
		} `json:"calls"`
	}
	path := "/calls?limit=1&project_id=" + i.ProjectID + "&before=" + url.QueryEscape(before.UTC().Format(time.RFC3339))
	err := i.getManagement(ctx, path, &found)
	if err == nil && len(found.Calls) == 0 {
		err = fmt.Errorf("no call before %s", before)
	}
	if err != nil {
		return "", err
	}
	return found.Calls[0].RequestID, nil
}

// consoleRequests returns a request and those that the console makes by itself after it: a list skips pages without a
// match, and the page of a call reads on until it has the call. The lists of projects and organizations wait for their
// button instead.
func (i *installation) consoleRequests(ctx context.Context, path string) ([]string, error) {
	requests := []string{path}
	if strings.HasPrefix(path, "/projects") || strings.HasPrefix(path, "/organizations") {
		return requests, nil
	}
	most := 1 + consoleSkips
	if strings.Contains(path, "request_id=") {
		most = math.MaxInt
	}
	for request := path; len(requests) < most; requests = append(requests, request) {
		var page map[string]json.RawMessage
		if err := i.getManagement(ctx, request, &page); err != nil {
			return nil, err
		}
		var cursor string
		if next, more := page["next_cursor"]; !more {
			break
		} else if err := json.Unmarshal(next, &cursor); err != nil {
			return nil, err
		}
		delete(page, "next_cursor")
		for _, rows := range page {
			if string(rows) != "[]" {
				return requests, nil
			}
		}
		u, err := url.Parse(path)
		if err != nil {
			return nil, err
		}
		query := u.Query()
		query.Set("cursor", cursor)
		u.RawQuery = query.Encode()
		request = u.String()
	}
	return requests, nil
}

// readConsole returns the median time of a request.
func (i *installation) readConsole(ctx context.Context, path string) (time.Duration, error) {
	var took []time.Duration
	for range consoleReads {
		began := time.Now()
		if err := i.getManagement(ctx, path, nil); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	return measure.Median(took), nil
}

// getManagement calls the management API and decodes the response, unless out is nil.
func (i *installation) getManagement(ctx context.Context, path string, out any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.Address+"/api/manage"+path, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+i.AdminToken)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", res.StatusCode, raw)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
