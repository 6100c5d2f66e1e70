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

	"parley.example/client/sign"
	"parley/internal/plural"
	"parley/internal/quickstart"
)

const (
	// maxWebhookBody is the maximum size of a body in bytes; those of Parley are much
	// smaller.
	maxWebhookBody = 1 << 20
	// maxSecretInput is how many bytes of standard input are read for a secret.
	maxSecretInput = 4 << 10

	webhookReadTimeout     = 15 * time.Second // for reading a delivery
	webhookShutdownTimeout = 2 * time.Second  // for deliveries in flight when the command stops
)

type webhookListen struct {
	DataDir       string `name:"data-dir" env:"PARLEY_DATA_DIR" default:"./data" help:"Directory with quickstart.json, which contains the default of --project-secret."`
	ProjectSecret string `name:"project-secret" env:"PARLEY_PROJECT_SECRET" placeholder:"SECRET" help:"Project secret that webhooks are signed with; - reads it from standard input."`
	Listen        string `default:"127.0.0.1:8090" placeholder:"HOST:PORT" help:"Address to listen on."`
	Status        int    `default:"204" placeholder:"CODE" help:"Status of the response to valid webhooks; 500, for example, to see retries."`
	JSON          bool   `name:"json" help:"JSON output, one line with the payload per webhook."`
}

// Help returns the detailed help of the command.
func (webhookListen) Help() string {
	return "For development: prints each webhook with the result of its signature check, and reports missing, " +
		"repeated and replayed webhooks. Webhooks with an invalid signature get the status 401."
}

// Run receives webhooks until ctx ends.
func (c webhookListen) Run(ctx context.Context, s *streams) error {
	if c.Status < 200 || c.Status > 599 {
		return usageError{fmt.Errorf("--status must be 200 to 599, not %d", c.Status)}
	}
	secret, q, err := c.loadSecret(s.in)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	l := &webhookReceiver{verifier: newWebhookVerifier(secret, q.ProjectID), command: c, out: s.out}
	l.printInstructions(s.err, listener.Addr(), q.ProjectID)
	server := &http.Server{
		Handler:           l,
		ReadHeaderTimeout: webhookReadTimeout,
		ReadTimeout:       webhookReadTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	shutdownCtx, cancel := context.WithTimeout(context.Background(), webhookShutdownTimeout)
	defer cancel()
	if server.Shutdown(shutdownCtx) != nil {
		_ = server.Close()
	}
	return l.printSummary(s.err)
}

// loadSecret returns the project secret from the flag, standard input or the
// quickstart file. The Quickstart is set only if the secret comes from that file.
func (c webhookListen) loadSecret(stdin io.Reader) (string, quickstart.File, error) {
	var q quickstart.File
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
		if q, err = quickstart.Read(c.DataDir); err != nil && !os.IsNotExist(err) {
			return "", q, err
		}
		if secret = q.ProjectSecret; secret == "" {
			return "", q, usageError{fmt.Errorf("the project secret is missing, and there is no %s in %s: "+
				"set PARLEY_PROJECT_SECRET, or pass it on standard input with --project-secret -",
				quickstart.FileName, c.DataDir)}
		}
	}
	if _, err := sign.Webhook([]string{secret}, "id", "0", nil); err != nil {
		return "", q, usageError{fmt.Errorf("invalid project secret: %w", err)}
	}
	return secret, q, nil
}

// webhookReceiver is the HTTP handler that verifies and prints webhooks.
type webhookReceiver struct {
	command webhookListen
	out     io.Writer

	mu       sync.Mutex // serializes deliveries
	verifier *webhookVerifier
	err      error // of printing
}

// printInstructions prints how to send webhooks to this receiver.
func (l *webhookReceiver) printInstructions(w io.Writer, listening net.Addr, project string) {
	address := listening.String()
	if a, err := netip.ParseAddrPort(address); err == nil && a.Addr().IsUnspecified() {
		address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()).String()
	}
	host, _, _ := net.SplitHostPort(address)
	if project == "" {
		project = "PROJECT_ID"
	}
	fmt.Fprintf(w, "Listening for webhooks at http://%s/ until Ctrl-C.\n\n", address)
	fmt.Fprintf(w, "Use this URL as webhook_url of a room, or for all rooms of the project:\n"+
		"  parley project set %s default_webhook_url=http://%s/\n\n", project, address)
	fmt.Fprintf(w, "The server sends webhooks to a private address only if it was started with\n"+
		"  parley serve --webhook-allow %s\n\n", host)
	if l.command.Status/100 != 2 {
		fmt.Fprintf(w, "The response is %d, so the server treats each webhook as not delivered.\n\n", l.command.Status)
	}
}

// ServeHTTP receives a webhook.
func (l *webhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "the method of webhooks must be POST", http.StatusMethodNotAllowed)
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

// rejectUnreadable reports a body that could not be read completely.
func (l *webhookReceiver) rejectUnreadable(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadRequest
	problem := hint{"body_cut", "the connection ended or timed out before the end of the body"}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		status = http.StatusRequestEntityTooLarge
		problem = hint{"body_too_large",
			fmt.Sprintf("the body has more than %d bytes; those of Parley are much smaller", large.Limit)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.verifier.received++
	l.print(webhookReport{
		ReceivedAt: time.Now().UTC().Format(timestampLayout),
		Target:     r.URL.RequestURI(),
		WebhookID:  r.Header.Get(headerWebhookID),
		Problem:    &problem,
		Status:     status,
	})
	http.Error(w, problem.Message, status)
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

// printSummary prints the totals and returns the first error of printing.
func (l *webhookReceiver) printSummary(w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.verifier
	fmt.Fprintf(w, "%s received, %d verified, %d of them repeated; %s.\n",
		plural.Count(v.received, "webhook", "webhooks"), v.valid, v.duplicates, plural.Count(v.gaps, "gap", "gaps"))
	return l.err
}

// String formats a report for people: one line, and one more for each finding.
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
	writeLine := func(format string, args ...any) { fmt.Fprintf(&out, "    "+format+"\n", args...) }
	if a.Problem != nil {
		writeLine("%s (%s)", a.Problem.Message, a.Problem.Code)
	}
	switch {
	case a.Signatures > 1 && a.Signature == 1:
		writeLine("the first of %d signatures matches: the secret is being rotated, and yours is the new one",
			a.Signatures)
	case a.Signature > 1:
		writeLine("signature %d of %d matches: the secret is being rotated, and yours is valid until the overlap ends",
			a.Signature, a.Signatures)
	}
	switch {
	case a.Replay:
		writeLine("a replay; received %s", plural.Count(a.Times, "time", "times"))
	case a.Times > 1:
		writeLine("the same webhook for the %d. time: an earlier response was not 2xx or was lost", a.Times)
	}
	if a.Missing {
		writeLine("MISSING: the last received sequence is %d, but events up to %d were sent; "+
			"see parley webhook list and replay", a.Last, a.Previous)
	}
	if a.Late {
		writeLine("out of order: sequence %d was received before", a.Last)
	}
	return out.String()
}
