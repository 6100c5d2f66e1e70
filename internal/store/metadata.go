package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"parley/internal/fault"
	"parley/internal/seal"
)

const (
	metadataMediaSecret   = "media_signing_secret"
	metadataCompactionDue = "compaction_due"
)

// KeyCheck verifies the master key of a database before the database is opened.
type KeyCheck struct {
	sealed string // the media secret, the first sealed value in every database; empty if there is none
}

// ReadKeyCheck returns the KeyCheck of the database that Open would open. It neither
// creates nor changes the database.
func ReadKeyCheck(ctx context.Context, url, dataDir string) (KeyCheck, error) {
	var c KeyCheck
	if err := readMetadata(ctx, url, dataDir, metadataMediaSecret, &c.sealed); err != nil {
		return KeyCheck{}, fmt.Errorf("read which master key sealed the secrets: %w", err)
	}
	return c, nil
}

// Fresh reports whether the database does not exist or contains no sealed value yet, so
// that it accepts any master key.
func (c KeyCheck) Fresh() bool { return c.sealed == "" }

// Verify returns the error of seal.Box.Open if box cannot open the secrets of the
// database.
func (c KeyCheck) Verify(box *seal.Box) error {
	if c.Fresh() {
		return nil
	}
	_, err := box.Open(metadataMediaSecret+columnMetadata, c.sealed)
	return err
}

// Unlock sets the box that seals and opens secrets. It returns the error of
// seal.Box.Open if the secrets were sealed with another master key. It must be
// called once, before the first use of a secret.
func (s *DB) Unlock(ctx context.Context, box *seal.Box) error {
	s.box = box
	_, err := s.MediaSecret(ctx)
	return err
}

// earlierMetadataTable is the name that the table metadata had before migration 34. A database that
// was not migrated yet, or a backup, has it.
const earlierMetadataTable = "facts"

// readMetadata reads a value from the database that Open would open, without opening it for writes.
// It leaves dest alone if there is no such value.
func readMetadata(ctx context.Context, url, dataDir, name string, dest *string) error {
	for _, table := range []string{"metadata", earlierMetadataTable} {
		err := query(ctx, url, dataDir, `SELECT value FROM `+table+` WHERE name = '`+name+`'`, dest)
		if err != nil || *dest != "" {
			return err
		}
	}
	return nil
}

var errMetadataNotFound = fault.New(fault.NotFound, "metadata_not_found", "there is no such metadata")

func (s *DB) metadata(ctx context.Context, name string) (string, error) {
	var v string
	err := s.QueryRow(ctx, errMetadataNotFound, `SELECT value FROM metadata WHERE name = $1`, []any{name}, &v)
	return v, err
}

func (s *DB) setMetadata(ctx context.Context, name, value string) error {
	return s.Exec(ctx, `INSERT INTO metadata (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
}

// MarkCompactionDue records in the transaction of ctx that the files keep what this transaction deletes, until
// a Compact that began after the commit succeeds. It does nothing on PostgreSQL, which needs no compaction.
func (s *DB) MarkCompactionDue(ctx context.Context) error {
	if !s.NeedsCompaction() {
		return nil
	}
	return s.setMetadata(ctx, metadataCompactionDue, "true")
}

// CompactionDue reports whether the files still keep what a transaction with MarkCompactionDue has deleted. It is false
// on PostgreSQL, also if the database is a copy of a SQLite database with the mark.
func (s *DB) CompactionDue(ctx context.Context) (bool, error) {
	if !s.NeedsCompaction() {
		return false, nil
	}
	_, err := s.metadata(ctx, metadataCompactionDue)
	if errors.Is(err, errMetadataNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Compact is db.DB.Compact that also removes the mark of MarkCompactionDue.
func (s *DB) Compact(ctx context.Context, log *slog.Logger) (bool, error) {
	return s.DB.Compact(ctx, log, `DELETE FROM metadata WHERE name = '`+metadataCompactionDue+`'`)
}

// MediaSecret returns the secret that signs media tokens. It generates the secret
// on the first call and stores it, so that a token remains valid after a
// restart. The secret is the first sealed value in every database, so opening it
// also verifies the master key.
func (s *DB) MediaSecret(ctx context.Context) (seal.Secret, error) {
	var secret seal.Secret
	err := s.Write(ctx, func(ctx context.Context) error {
		v, err := s.metadata(ctx, metadataMediaSecret)
		if errors.Is(err, errMetadataNotFound) {
			secret = seal.NewGatewaySecret(false)
			return s.setMetadata(ctx, metadataMediaSecret, s.sealSecret(metadataMediaSecret+columnMetadata, secret))
		}
		if err != nil {
			return err
		}
		secret, err = s.openSecret(metadataMediaSecret+columnMetadata, v)
		return err
	})
	return secret, err
}
