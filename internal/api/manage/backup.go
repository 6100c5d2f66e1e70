package manage

import (
	"net/http"
	"strconv"

	"parley/internal/api/httpx"
)

// CreateBackup makes a backup and writes it to the client. The length is announced, so
// that a client notices an interrupted response.
func (s *server) CreateBackup(w http.ResponseWriter, r *http.Request) {
	allowLongRequest(w)
	archive, err := s.Backups.Create(r.Context())
	if err != nil {
		writeError(w, r, err)
		return
	}
	defer func() { _ = archive.Close() }()
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Content-Length", strconv.FormatInt(archive.Size(), 10))
	if err := archive.Write(r.Context(), w); err != nil {
		httpx.LogError(r, err)
	}
}
