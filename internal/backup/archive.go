// Package backup is the format of a backup file, and the schedule by which a directory
// gets new ones. A backup is a tar archive of three files: manifest.json, which says what
// the backup contains, a copy of the database, and SHA256SUMS of both. It never contains
// the master key. The package knows no database.
package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"
)

const (
	formatVersion = 1
	manifestName  = "manifest.json"
	sumsName      = "SHA256SUMS"
	// maxManifestBytes is much more than a manifest has, so that a file that is no
	// backup cannot take much memory.
	maxManifestBytes = 1 << 20
	tarBlock         = 512
)

// The values of Manifest.Engine.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// Manifest describes a backup.
type Manifest struct {
	Format int `json:"format"` // version of the archive format
	// CreatedAt is the time at which the backup began. The backup contains every change that
	// was acknowledged before this time.
	CreatedAt time.Time `json:"created_at"`
	Version   string    `json:"version"`            // version of the program that made the backup
	Revision  string    `json:"revision,omitempty"` // revision of the source of this program
	Engine    string    `json:"engine"`             // SQLite or Postgres
	Schema    int64     `json:"schema"`             // version of the database schema
	// Contraction is the version of the schema that a program must know to use the database. It is less than Schema if
	// the database was only extended since. Backups of earlier programs do not have it.
	Contraction *int64 `json:"contraction,omitempty"`
	// DatabaseID identifies the database.
	DatabaseID string `json:"database_id"`
	// KeyFingerprint identifies the master key that seals the secrets. It is not a secret.
	KeyFingerprint string           `json:"key_fingerprint"`
	Rows           map[string]int64 `json:"rows"` // number of rows in each table
	Database       File             `json:"database"`
}

// File describes the copy of the database in the archive.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// databaseNames are the file names of the copy in the archive, by engine.
var databaseNames = map[string]string{SQLite: "parley.db", Postgres: "parley.dump"}

// Archive is a backup that can be written.
type Archive struct {
	Manifest Manifest
	manifest []byte // as JSON
	database *os.File
	cleanUp  func()
}

// NewArchive returns the archive of a copy of a database. It completes the manifest and
// reads the copy to its end, or until ctx ends. Close closes the copy and calls cleanUp.
func NewArchive(ctx context.Context, m Manifest, database *os.File, cleanUp func()) (*Archive, error) {
	sum := sha256.New()
	size, err := io.Copy(sum, contextReader{ctx, io.NewSectionReader(database, 0, 1<<62)})
	if err != nil {
		return nil, fmt.Errorf("read the copy of the database: %w", err)
	}
	m.Format = formatVersion
	m.Database = File{Name: databaseNames[m.Engine], Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	return &Archive{Manifest: m, manifest: append(manifest, '\n'), database: database, cleanUp: cleanUp}, nil
}

// Size returns the number of bytes that Write writes.
func (a *Archive) Size() int64 { return archiveSize(a.manifest, a.Manifest) }

// Write writes the archive to w. It returns the error of ctx when that ends.
func (a *Archive) Write(ctx context.Context, w io.Writer) error {
	archive := tar.NewWriter(w)
	sums := checksums(a.manifest, a.Manifest)
	for _, f := range []struct {
		name    string
		size    int64
		content io.Reader
	}{
		{manifestName, int64(len(a.manifest)), bytes.NewReader(a.manifest)},
		{a.Manifest.Database.Name, a.Manifest.Database.Bytes, io.NewSectionReader(a.database, 0, a.Manifest.Database.Bytes)},
		{sumsName, int64(len(sums)), bytes.NewReader(sums)},
	} {
		// The GNU format has headers of one block for every size.
		header := &tar.Header{
			Name:    f.name,
			Mode:    0o600,
			Size:    f.size,
			Format:  tar.FormatGNU,
			ModTime: a.Manifest.CreatedAt.Truncate(time.Second),
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := io.Copy(archive, contextReader{ctx, f.content}); err != nil {
			return err
		}
	}
	return archive.Close()
}

// Close closes and cleans up the copy of the database.
func (a *Archive) Close() error {
	defer a.cleanUp()
	return a.database.Close()
}

// checksums returns the content of SHA256SUMS, which sha256sum -c reads too.
func checksums(manifest []byte, m Manifest) []byte {
	return fmt.Appendf(nil, "%x  %s\n%s  %s\n", sha256.Sum256(manifest), manifestName,
		m.Database.SHA256, m.Database.Name)
}

// archiveSize returns the size of an archive: for each file a header and its content in
// whole blocks, and two blocks at the end.
func archiveSize(manifest []byte, m Manifest) int64 {
	size := int64(2 * tarBlock)
	for _, content := range []int64{int64(len(manifest)), m.Database.Bytes, int64(len(checksums(manifest, m)))} {
		size += tarBlock + (content+tarBlock-1)/tarBlock*tarBlock
	}
	return size
}

// contextReader fails when ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// Reader reads an archive from its start to its end.
type Reader struct {
	Manifest Manifest
	manifest []byte
	source   *countingReader
	archive  *tar.Reader
}

// NewReader reads the manifest of an archive. Nothing is certain about the rest before
// CopyDatabase has returned nil.
func NewReader(source io.Reader) (*Reader, error) {
	r := &Reader{source: &countingReader{r: source}}
	r.archive = tar.NewReader(r.source)
	header, err := r.next(manifestName)
	if err != nil {
		return nil, err
	}
	if header.Size > maxManifestBytes {
		return nil, errNoBackup
	}
	if r.manifest, err = io.ReadAll(r.archive); err != nil {
		return nil, readError(err)
	}
	if err := json.Unmarshal(r.manifest, &r.Manifest); err != nil || r.Manifest.Format < 1 {
		return nil, errNoBackup
	}
	if m := r.Manifest; m.Format > formatVersion {
		return nil, fmt.Errorf("the backup has format %d, written by a newer Parley (%s); this one reads up to %d",
			m.Format, m.Version, formatVersion)
	}
	// The name becomes a part of a path when the backup is restored.
	if name, known := databaseNames[r.Manifest.Engine]; !known || r.Manifest.Database.Name != name {
		return nil, errNoBackup
	}
	return r, nil
}

var (
	errNoBackup  = errors.New("the file is not a backup of Parley")
	errTruncated = errors.New("the backup is not complete: the file ends too early")
	errChanged   = errors.New("the backup is damaged: its content does not match its checksums")
)

// readError translates an error of the archive reader: an early end is errTruncated, a
// damaged header is errChanged, and any other error is wrapped.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	if errors.Is(err, tar.ErrHeader) {
		return errChanged
	}
	return fmt.Errorf("read the backup: %w", err)
}

// next goes to the next file, which must have a name.
func (r *Reader) next(name string) (*tar.Header, error) {
	header, err := r.archive.Next()
	first := name == manifestName
	switch {
	case first && errors.Is(err, tar.ErrHeader):
		return nil, errNoBackup
	case err != nil:
		return nil, readError(err)
	case header.Name != name && first:
		return nil, errNoBackup
	case header.Name != name:
		return nil, errChanged
	}
	return header, nil
}

// CopyDatabase writes the copy of the database to w and reads the archive to its end. It
// returns an error if anything is missing, was changed, or follows. What w has received
// then must not be used.
func (r *Reader) CopyDatabase(w io.Writer) error {
	if err := r.copyDatabase(w); err != nil {
		return err
	}
	if _, err := r.next(sumsName); err != nil {
		return err
	}
	sums, err := io.ReadAll(io.LimitReader(r.archive, maxManifestBytes))
	if err != nil {
		return readError(err)
	}
	if !bytes.Equal(sums, checksums(r.manifest, r.Manifest)) {
		return errChanged
	}
	if _, err := r.archive.Next(); err == nil {
		return errChanged
	} else if !errors.Is(err, io.EOF) {
		return readError(err)
	}
	// tar accepts an archive without the blocks at its end.
	if r.source.n != archiveSize(r.manifest, r.Manifest) {
		return errTruncated
	}
	if n, _ := r.source.Read(make([]byte, 1)); n > 0 {
		return errChanged
	}
	return nil
}

func (r *Reader) copyDatabase(w io.Writer) error {
	header, err := r.next(r.Manifest.Database.Name)
	if err != nil {
		return err
	}
	if header.Size != r.Manifest.Database.Bytes {
		return errChanged
	}
	copied := &hashingReader{r: r.archive, sum: sha256.New()}
	if _, err := io.Copy(w, copied); err != nil {
		if copied.err != nil {
			return readError(err)
		}
		return err // of w
	}
	if hex.EncodeToString(copied.sum.Sum(nil)) != r.Manifest.Database.SHA256 {
		return errChanged
	}
	return nil
}

// hashingReader reads from r and adds the bytes to the hash sum. It keeps the error of r, so
// that the caller of io.Copy can distinguish it from an error of the writer.
type hashingReader struct {
	r   io.Reader
	sum hash.Hash
	err error // error of r other than io.EOF
}

func (h *hashingReader) Read(b []byte) (int, error) {
	n, err := h.r.Read(b)
	h.sum.Write(b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		h.err = err
	}
	return n, err
}
