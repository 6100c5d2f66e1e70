package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"parley/client/sign"
	"parley/internal/app"
)

const (
	// maxWebhookBody is the longest body that is read; those of Parley are far
	// shorter.
	maxWebhookBody = 1 << 20
	// maxSecretInput is how much of standard input is read for a secret.
	maxSecretInput = 4 << 10

	webhookReadTimeout     = 15 * time.Second // for a delivery to come in
	webhookShutdownTimeout = 2 * time.Second  // for those under way when we stop
)

type webhookListen struct {
	DataDir       string `name:"data-dir" env:"PARLEY_DATA_DIR" default:"./data" help:"Where quickstart.json is, which has the secret that is not given."`
	ProjectSecret string `name:"project-secret" env:"PARLEY_PROJECT_SECRET" placeholder:"SECRET" help:"The project secret, which webhooks are signed with; - reads it from standard input."`
	Listen        string `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"The address to listen on."`
	Status        int    `default:"204" placeholder:"CODE" help:"What to answer to webhooks that verify, such as 500 to see them come again."`
	JSON          bool   `name:"json" help:"Print each webhook as a line of JSON, with its payload."`
}

// Help implements kong's interface.
func (webhookListen) Help() string {
	return "For your own machine: prints each webhook that comes, whether its signature verifies, and if not why; what is missing, and what comes again. One that does not verify is answered with 401."
}

// Run implements the command.
func (c webhookListen) Run(ctx context.Context, s *streams) error {
	if c.Status < 200 || c.Status > 599 {
		return usageError{fmt.Errorf("--status must be 200 to 599, not %d", c.Status)}
	}
	secret, q, err := c.loadSecret(os.Stdin)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	l := &webhookReceiver{verifier: newWebhookVerifier(secret, q.ProjectID), command: c, out: s.out}
	l.printInstructions(s.err, listener.Addr(), q.ProjectID)
	server := &http.Server{Handler: l, ReadHeaderTimeout: webhookReadTimeout, ReadTimeout: webhookReadTimeout, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), webhookShutdownTimeout)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	return l.printSummary(s.err)
}

// loadSecret returns the project secret. What else is known of its project is in
// the quick start file, if it comes from there.
func (c webhookListen) loadSecret(stdin io.Reader) (string, app.Quickstart, error) {
	var q app.Quickstart
	secret := c.ProjectSecret
	switch secret {
	case "-":
		raw, err := io.ReadAll(io.LimitReader(stdin, maxSecretInput))
		if err != nil {
			return "", q, fmt.Errorf("standard input: %w", err)
		}
		secret = strings.TrimSpace(string(raw))
	case "":
		var err error
		if q, err = app.ReadQuickstart(c.DataDir); err != nil && !os.IsNotExist(err) {
			return "", q, err
		}
		if secret = q.ProjectSecret; secret == "" {
			return "", q, usageError{fmt.Errorf("the project secret is missing: there is no %s in %s; set PARLEY_PROJECT_SECRET, or give it on standard input with --project-secret -", app.QuickstartFile, c.DataDir)}
		}
	}
	if _, err := sign.Webhook([]string{secret}, "id", "0", nil); err != nil {
		return "", q, usageError{fmt.Errorf("what was given is no project secret: %w", err)}
	}
	return secret, q, nil
}

// webhookReceiver is a receiver at work.
type webhookReceiver struct {
	command webhookListen
	out     io.Writer

	mu       sync.Mutex // one delivery after another
	verifier *webhookVerifier
	err      error // of printing
}

// printInstructions says what to do next.
func (l *webhookReceiver) printInstructions(w io.Writer, where net.Addr, project string) {
	address := where.String()
	if a, err := netip.ParseAddrPort(address); err == nil && a.Addr().IsUnspecified() {
		address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()).String()
	}
	host, _, _ := net.SplitHostPort(address)
	if project == "" {
		project = "PROJECT_ID"
	}
	fmt.Fprintf(w, "Webhooks are taken at http://%s/ until Ctrl-C.\n\n", address)
	fmt.Fprintf(w, "Give it as webhook_url of a room, or for all rooms of the project:\n  parley project set %s default_webhook_url=http://%s/\n\n", project, address)
	fmt.Fprintf(w, "A server sends to an address like this one only if it was started with\n  parley serve --webhook-allow %s\n\n", host)
	if l.command.Status/100 != 2 {
		fmt.Fprintf(w, "Each is answered with %d, so it counts as not delivered.\n\n", l.command.Status)
	}
}

// ServeHTTP implements http.Handler.
func (l *webhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "webhooks come with POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhookBody))
	if err != nil {
		l.rejectUnreadable(w, r, err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.verifier.record(receivedWebhook{header: r.Header, target: r.URL.RequestURI(), body: body, at: time.Now()})
	a.Status = l.command.Status
	if !a.Valid {
		a.Status = http.StatusUnauthorized
	}
	l.print(a)
	if !a.Valid {
		http.Error(w, a.Problem.Message, a.Status)
		return
	}
	w.WriteHeader(a.Status)
}

// rejectUnreadable tells of a body that could not be read.
func (l *webhookReceiver) rejectUnreadable(w http.ResponseWriter, r *http.Request, err error) {
	status, wrong := http.StatusBadRequest, hint{"body_cut", "the connection ended, or was too slow, before the body did"}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		status, wrong = http.StatusRequestEntityTooLarge, hint{"body_too_large", fmt.Sprintf("the body has more than %d bytes, and Parley's have far fewer", large.Limit)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.verifier.received++
	l.print(webhookReport{ReceivedAt: time.Now().UTC().Format(timestampLayout), Target: r.URL.RequestURI(), WebhookID: r.Header.Get(headerWebhookID), Problem: &wrong, Status: status})
	http.Error(w, wrong.Message, status)
}

func (l *webhookReceiver) print(a webhookReport) {
	write := func() error {
		_, err := io.WriteString(l.out, a.String())
		return err
	}
	if l.command.JSON {
		e := json.NewEncoder(l.out)
		e.SetEscapeHTML(false)
		write = func() error { return e.Encode(a) }
	}
	l.err = errors.Join(l.err, write())
}

// printSummary says at the end what there was.
func (l *webhookReceiver) printSummary(w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.verifier
	fmt.Fprintf(w, "%s, %d verified, %d of them again; %s.\n", pluralize(b.received, "webhook came", "webhooks came"), b.valid, b.duplicates,
		pluralize(b.gaps, "gap", "gaps"))
	return l.err
}

// String is an arrival for people: a line, and one more for each thing they
// should know.
func (a webhookReport) String() string {
	var out strings.Builder
	kind := a.Type
	if kind == "" {
		kind = "no event"
	}
	fmt.Fprintf(&out, "%s  %s  sequence %d, after %d", a.ReceivedAt, sanitizeText(kind), a.Sequence, a.Previous)
	if a.RoomID != "" {
		fmt.Fprintf(&out, "  room %s", sanitizeText(a.RoomID))
	}
	if a.Valid {
		out.WriteString("  verified")
	} else {
		out.WriteString("  NOT VERIFIED")
	}
	fmt.Fprintf(&out, "  answered %d\n", a.Status)
	say := func(format string, args ...any) { fmt.Fprintf(&out, "    "+format+"\n", args...) }
	if a.Problem != nil {
		say("%s (%s)", a.Problem.Message, a.Problem.Code)
	}
	switch {
	case a.Signatures > 1 && a.Signature == 1:
		say("the first of %d signatures fits: the secret is being rotated, and yours is the new one", a.Signatures)
	case a.Signature > 1:
		say("signature %d of %d fits: the secret is being rotated, and yours ends with the overlap", a.Signature, a.Signatures)
	}
	switch {
	case a.Replay:
		say("a replay; it has come %s here", pluralize(a.Times, "time", "times"))
	case a.Times > 1:
		say("the same webhook for the %d. time: an answer was not 2xx, or not seen", a.Times)
	}
	if a.Missing {
		say("MISSING: the last one that came is %d, and there was more up to %d; parley webhook list and replay know them", a.Last, a.Previous)
	}
	if a.Late {
		say("out of order: %d has come before", a.Last)
	}
	return out.String()
}
