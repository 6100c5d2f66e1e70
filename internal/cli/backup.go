package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/internal/app"
	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/seal"
	"parley/internal/shell"
)

type backupCommands struct {
	Create backupCreate `cmd:"" default:"withargs" help:"Save a backup of a running server."`
	Verify backupVerify `cmd:"" help:"Restore a backup into a temporary directory or database, start the service on it and report what it contains."`
}

type backupCreate struct {
	manager
	File string `arg:"" help:"File to create, or - for standard output."`
}

// backupSummary is the JSON output about a backup that was made or restored.
type backupSummary struct {
	File           string `json:"file"`
	Bytes          int64  `json:"bytes"`
	Rooms          int64  `json:"rooms"`
	KeyFingerprint string `json:"key_fingerprint"`
}

func newBackupSummary(file string, m backup.Manifest, size int64) backupSummary {
	return backupSummary{File: file, Bytes: size, Rooms: m.Rows["rooms"], KeyFingerprint: m.KeyFingerprint}
}

// Run saves the backup that the server sends, and checks it while it arrives.
func (c backupCreate) Run(ctx context.Context, s *streams) error {
	var m backup.Manifest
	var size int64
	receive := func(w io.Writer) (err error) {
		m, size, err = c.receive(ctx, w)
		return err
	}
	report := s.out
	var err error
	if c.File == "-" {
		report = s.err // because the backup goes to standard output
		err = receive(s.out)
	} else {
		err = backup.WriteFile(c.File, receive)
	}
	if err != nil {
		return err
	}
	summary := newBackupSummary(c.File, m, size)
	if c.JSON {
		return printJSON(report, summary)
	}
	return errors.Join(printBackup(report, summary, m),
		printLine(report, "\nThe master key is not in the backup: keep it in another place."))
}

// receive writes the server's backup to w.
func (c backupCreate) receive(ctx context.Context, w io.Writer) (m backup.Manifest, size int64, err error) {
	if err := c.applyQuickstart(); err != nil {
		return m, 0, err
	}
	response, err := send(ctx, c.manager, http.MethodPost, "/backups", nil, 0)
	if err != nil {
		return m, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	local := &errorWriter{w: w}
	r, err := backup.NewReader(io.TeeReader(response.Body, local))
	if err == nil {
		m, err = r.Manifest, r.CopyDatabase(io.Discard)
	}
	if local.err != nil { // for example a full disk
		return m, 0, fmt.Errorf("write the backup: %w", local.err)
	}
	if err != nil {
		return m, 0, fmt.Errorf("the response from %s is not a complete backup: %w", c.URL, err)
	}
	return m, response.ContentLength, nil
}

// errorWriter remembers the error of a writer.
type errorWriter struct {
	w   io.Writer
	err error
}

func (e *errorWriter) Write(b []byte) (n int, err error) {
	n, e.err = e.w.Write(b)
	return n, e.err
}

func printBackup(w io.Writer, b backupSummary, m backup.Manifest) error {
	return printFields(w, "file", b.File, "bytes", strconv.FormatInt(b.Bytes, 10),
		"made", formatTime(&m.CreatedAt), "database", m.Engine+" "+m.DatabaseID,
		"schema", strconv.FormatInt(m.Schema, 10), "rooms", strconv.FormatInt(b.Rooms, 10),
		"master key", b.KeyFingerprint)
}

func printLine(w io.Writer, line string) error {
	_, err := fmt.Fprintln(w, line)
	return err
}

type backupVerify struct {
	config.Storage
	JSON bool   `name:"json" help:"JSON output."`
	File string `arg:"" help:"Backup to verify."`
}

// drillReport is the JSON output of a drill.
type drillReport struct {
	OK         bool   `json:"ok"`
	AgeSeconds int64  `json:"age_seconds"`
	Rooms      int64  `json:"rooms"`
	Schema     int64  `json:"schema"` // of the backup
	Secrets    int    `json:"secrets"`
	Error      string `json:"error,omitempty"`
}

// Run does the drill and prints what a restore would bring back.
func (c backupVerify) Run(ctx context.Context, s *streams) error {
	if err := instance.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return err
	}
	result, err := app.Drill(ctx, c.Storage, c.File)
	if err == nil {
		if err := backup.RecordVerified(c.File); err != nil {
			fmt.Fprintf(s.err, "Could not record the drill for parley doctor: %v\nChange: as the user of the server, touch %s\n",
				err, shell.Quote(backup.VerifiedFile(c.File)))
		}
	}
	m := result.Manifest
	report := drillReport{OK: err == nil, Rooms: m.Rows["rooms"], Schema: m.Schema, Secrets: result.Secrets}
	if !m.CreatedAt.IsZero() {
		report.AgeSeconds = int64(time.Since(m.CreatedAt) / time.Second)
	}
	if c.JSON {
		if err != nil {
			report.Error = err.Error()
		}
		return errors.Join(printJSON(s.out, report), err)
	}
	switch {
	case errors.Is(err, app.ErrNotVerified):
		return err
	case err != nil:
		return fmt.Errorf("the backup does not work: %w", err)
	}
	age := config.Duration(time.Duration(report.AgeSeconds) * time.Second)
	fields := []string{"made", formatTime(&m.CreatedAt) + ", " + age.String() + " ago",
		"by", strings.TrimSpace(m.Version + " " + m.Revision), "database", m.Engine + " " + m.DatabaseID,
		"schema", fmt.Sprintf("%d, migrated to %d", m.Schema, result.Schema),
		"secrets", fmt.Sprintf("%d, opened with the master key %s", result.Secrets, m.KeyFingerprint)}
	for _, table := range slices.Sorted(maps.Keys(m.Rows)) {
		fields = append(fields, table, strconv.FormatInt(m.Rows[table], 10))
	}
	return errors.Join(printLine(s.out, "The backup works: the service started on it and was healthy.\n"),
		printFields(s.out, fields...))
}

type restoreCommand struct {
	config.Storage
	JSON bool   `name:"json" help:"JSON output."`
	File string `arg:"" help:"Backup to restore."`
}

// Run restores the backup and prints the next step.
func (c restoreCommand) Run(ctx context.Context, s *streams) error {
	if err := instance.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return err
	}
	m, notAnalyzed := instance.Restore(ctx, c.Storage, c.File)
	if notAnalyzed != nil && !errors.Is(notAnalyzed, instance.ErrNotAnalyzed) {
		return notAnalyzed
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	summary := newBackupSummary(c.File, m, info.Size())
	if c.JSON {
		return errors.Join(printJSON(s.out, summary), notAnalyzed)
	}
	next := fmt.Sprintf(`
The backup has no changes after %s. If you did one of these since then, do it again:
- revoke tokens and sessions (parley token list, parley session list)
- rotate keys and secrets that had leaked (parley key list)
- delete users, or take a role or projects from them (parley user list)
- suspend or delete projects and organizations (parley project list, parley org list)
- erase persons (parley person erase)
Next step: parley serve, with the same --data-dir, --database-url and master key.`, formatTime(&m.CreatedAt))
	return errors.Join(printBackup(s.out, summary, m), printLine(s.out, next), notAnalyzed)
}

type copyCommand struct {
	config.Storage
	To   seal.Secret `name:"to" env:"PARLEY_COPY_TO" required:"" placeholder:"URL" help:"URL of an empty PostgreSQL database, postgres://…."`
	JSON bool        `name:"json" help:"JSON output."`
}

// Run copies the database and prints the next step.
func (c copyCommand) Run(ctx context.Context, s *streams) error {
	if err := config.CheckPostgresURL("to", c.To); err != nil {
		return usageError{err}
	}
	if err := instance.MakeFilesPrivate(c.DataDir, nil); err != nil {
		return err
	}
	counts, notAnalyzed := instance.Copy(ctx, c.Storage, c.To.Reveal())
	if notAnalyzed != nil && !errors.Is(notAnalyzed, instance.ErrNotAnalyzed) {
		return notAnalyzed
	}
	if c.JSON {
		return errors.Join(printJSON(s.out, counts), notAnalyzed)
	}
	var rows [][]string
	for _, table := range slices.Sorted(maps.Keys(counts)) {
		rows = append(rows, []string{table, strconv.FormatInt(counts[table], 10)})
	}
	return errors.Join(printTable(s.out, []string{"TABLE", "ROWS"}, rows),
		printLine(s.out, "\nEvery table was compared after the copy. The data directory belongs to the copy now.\n"+
			"Next step: parley serve with --database-url (PARLEY_DATABASE_URL) set to the URL of --to."), notAnalyzed)
}
