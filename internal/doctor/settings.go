package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/internal/backup"
	"parley/internal/config"
	"parley/internal/instance"
	"parley/internal/quickstart"
	"parley/internal/seal"
	"parley/internal/shell"
	"parley/internal/store"
)

// certificateNotice is how long before its end a certificate is a finding.
const certificateNotice = 14 * 24 * time.Hour

// otherUser is why a check cannot read a file.
const otherUser = "this user cannot read %s: run the command as the user of the server"

func checkCertificate(_ context.Context, cfg config.Config) Result {
	switch {
	case !cfg.ServesTLS():
		return fine("none: the server is HTTP")
	case cfg.TLSCertFile == "":
		return onlyServer()
	}
	pair, err := tls.LoadX509KeyPair(cfg.TLSCertFile, cfg.TLSKeyFile)
	if errors.Is(err, fs.ErrPermission) {
		return unknown(otherUser, cfg.TLSCertFile+" and "+cfg.TLSKeyFile)
	}
	if err != nil {
		return found("certificate_file", Error, "Correct --tls-cert-file and --tls-key-file, or their files.",
			"The files of the certificate cannot be used: %v.", err)
	}
	if err := pair.Leaf.VerifyHostname(publicHost(cfg)); err != nil {
		return found("certificate_name", Error, suggestPublicURL(cfg, pair.Leaf),
			"Browsers refuse the certificate, because it is not for %s.", publicHost(cfg))
	}
	if time.Now().Before(pair.Leaf.NotBefore) {
		return clockBehind("of "+cfg.TLSCertFile, pair.Leaf)
	}
	var result Result
	result.addExpiry(pair.Leaf, "The certificate", "Replace the files "+cfg.TLSCertFile+" and "+cfg.TLSKeyFile+".")
	if len(result.Findings) > 0 {
		return result
	}
	return fine("valid until %s", pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
}

// addExpiry adds a finding if a certificate expires soon or has expired. name is the beginning of its sentence.
func (r *Result) addExpiry(leaf *x509.Certificate, name, change string) {
	left, validity := time.Until(leaf.NotAfter), leaf.NotAfter.Sub(leaf.NotBefore)
	if left >= min(certificateNotice, validity/5) {
		return
	}
	level, verb := Warning, "expires"
	if left < 0 {
		level, verb = Error, "expired"
	}
	r.add("certificate_expires", level, change, "%s %s at %s.", name, verb, leaf.NotAfter.UTC().Format(time.RFC3339))
}

// suggestPublicURL returns the setting with a name of the certificate, if it has one.
func suggestPublicURL(cfg config.Config, leaf *x509.Certificate) string {
	i := slices.IndexFunc(leaf.DNSNames, func(name string) bool { return !strings.HasPrefix(name, "*") })
	u, err := url.Parse(cfg.BaseURL(""))
	if i < 0 || err != nil {
		return "--tls-cert-file FILE, with a certificate for this host"
	}
	host := leaf.DNSNames[i]
	if u.Port() != "" {
		host = net.JoinHostPort(host, u.Port())
	}
	return "--public-url https://" + host
}

func checkMasterKey(ctx context.Context, cfg config.Config) Result {
	master, err := cfg.LoadMasterKey(false)
	switch {
	case err == nil:
		return checkKeyUse(ctx, cfg, master)
	case errors.Is(err, fs.ErrPermission):
		return unknown(otherUser, cfg.KeyFile())
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(store.SQLiteFile(cfg.DataDir)); err == nil {
			return found("master_key_missing", Error, "Restore the file from your backup, or name it with --master-key-file.",
				"The file %s with the key of the database does not exist, so the server does not start.", cfg.KeyFile())
		}
		return unknown("%s does not exist: the first start creates it", cfg.KeyFile())
	}
	if info, statErr := os.Stat(cfg.KeyFile()); statErr == nil && info.Mode().Perm()&0o077 != 0 {
		return found("master_key_mode", Error, "chmod 600 "+shell.Quote(cfg.KeyFile()),
			"Other users can read the master key %s, so the server does not start.", cfg.KeyFile())
	}
	return found("master_key_invalid", Error, "--master-key-file FILE", "The master key cannot be used: %v.", err)
}

// checkKeyUse checks a valid master key: whether it opens the database, and whether the backups have it, too.
func checkKeyUse(ctx context.Context, cfg config.Config, master seal.Key) Result {
	place, change := "PARLEY_MASTER_KEY", "PARLEY_MASTER_KEY=KEY, with the key %s"
	if cfg.MasterKey == "" {
		place, change = cfg.KeyFile(), "--master-key-file FILE, with the key %s"
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	err := instance.VerifyMasterKey(ctx, cfg, master)
	var result Result
	var wrong *seal.WrongKeyError
	switch {
	case errors.As(err, &wrong):
		if _, err := os.Stat(cfg.KeyFile() + ".next"); err == nil {
			return unknown("parley reseal was interrupted: run it again, or start the server")
		}
		result.add("master_key_wrong", Error, fmt.Sprintf(change, wrong.SealedWith), "The master key %s (fingerprint %s) "+
			"does not open the database, which was sealed with the key with the fingerprint %s, so the server does not start.",
			place, wrong.Have, wrong.SealedWith)
	case errors.Is(err, seal.ErrTampered):
		return found("master_key_wrong", Error, "Restore a backup: parley restore FILE",
			"The secrets of the database are damaged, so the server does not start.")
	}
	if cfg.MasterKey == "" && cfg.BackupDir != "" && isBelow(cfg.KeyFile(), cfg.BackupDir) {
		result.add("master_key_in_backups", Warning, "--backup-dir DIRECTORY, on another disk and without the master key",
			"The master key %s is in the directory of the backups, so a copy of that directory opens all secrets.", place)
	}
	if len(result.Findings) > 0 {
		return result
	}
	if err != nil {
		return fine("%s; could not check whether it opens the database", place)
	}
	return fine("%s, with the key %s", place, master.ID())
}

// isBelow reports whether a file is in a directory or below it.
func isBelow(file, dir string) bool {
	resolve := func(path string) string {
		path, err := filepath.Abs(path)
		if resolved, resolveErr := filepath.EvalSymlinks(path); err == nil && resolveErr == nil {
			return resolved
		}
		return path
	}
	relative, err := filepath.Rel(resolve(dir), resolve(file))
	return err == nil && filepath.IsLocal(relative)
}

// quickstartAge is how long the quickstart file may have its secrets on a server that others reach.
const quickstartAge = 7 * 24 * time.Hour

func checkQuickstart(_ context.Context, cfg config.Config) Result {
	file := filepath.Join(cfg.DataDir, quickstart.FileName)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fine("none: its secrets are not on this disk")
	case errors.Is(err, fs.ErrPermission):
		return unknown(otherUser, file)
	case err != nil:
		return unknown("%s", oneLine(err))
	}
	if info.Mode().Perm()&0o077 != 0 {
		return found("quickstart_secrets", Error, "chmod 600 "+shell.Quote(file),
			"Other users can read the management token and the keys in %s.", file)
	}
	if !IsLocal(cfg) && time.Since(info.ModTime()) > quickstartAge {
		return found("quickstart_secrets", Note, "Keep its token and keys in another place, and then: rm "+shell.Quote(file),
			"The file %s has a management token and the keys of the first project in clear text.", file)
	}
	return fine("%s, for the user of the server only", file)
}

// overdueIntervals is how many intervals may pass without a new backup.
const overdueIntervals = 2

func checkBackups(_ context.Context, cfg config.Config) Result {
	if cfg.BackupDir == "" {
		return unknown("none are scheduled (--backup-dir). If you make them in another way, check them: parley backup verify")
	}
	newest, err := backup.NewestFile(cfg.BackupDir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return unknown(otherUser, cfg.BackupDir)
	case err != nil:
		return found("backup_dir", Error,
			"Mount the disk of "+cfg.BackupDir+", or create the directory for the user of the server.",
			"The directory for backups cannot be used: %v.", err)
	case newest.IsZero():
		return unknown("there is none in %s yet", cfg.BackupDir)
	case time.Since(newest) > overdueIntervals*cfg.BackupEvery.Std():
		return found("backup_overdue", Warning, "Start the server, which makes one, and then ask parley doctor again.",
			"The newest backup is of %s, and there should be one every %s.", newest.UTC().Format(time.RFC3339),
			cfg.BackupEvery)
	}
	return fine("the newest is of %s", newest.UTC().Format(time.RFC3339))
}

// drillInterval is how long a restore drill says that restores work.
const drillInterval = 90 * 24 * time.Hour

// drillBusy is set while the system looks at the directory of backups, which never ends on a network disk that is gone.
var drillBusy atomic.Bool

func checkDrill(_ context.Context, cfg config.Config) Result {
	if cfg.BackupDir == "" {
		return unknown("no backups are scheduled (--backup-dir)")
	}
	if !drillBusy.CompareAndSwap(false, true) {
		return unknown("the disk of %s does not respond", cfg.BackupDir)
	}
	defer drillBusy.Store(false)
	drill, err := backup.ReadVerification(cfg.BackupDir)
	const day = 24 * time.Hour
	switch {
	case errors.Is(err, fs.ErrPermission):
		return unknown(otherUser, cfg.BackupDir)
	case err != nil:
		return unknown("%s", oneLine(err))
	case drill.Begin.IsZero():
		return unknown("there is no backup in %s yet", cfg.BackupDir)
	case time.Since(drill.Last) < drillInterval:
		return fine("the last was at %s", drill.Last.UTC().Format(time.RFC3339))
	case time.Since(drill.Begin) < drillInterval:
		return fine("due %d days after the first backup, which was made at %s", drillInterval/day,
			drill.Begin.UTC().Format(time.RFC3339))
	}
	return found("backup_unverified", Warning, "parley backup verify FILE, with the newest file of "+cfg.BackupDir,
		"No backup in %s was verified in the last %d days, so it is not known whether a restore works.", cfg.BackupDir,
		drillInterval/day)
}
