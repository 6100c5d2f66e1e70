package httpx

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"parley/internal/fault"
)

// Codes of the errors that concern the request body as a whole. Each API maps
// them to its own statuses.
const (
	CodeUnsupportedMediaType = "unsupported_media_type"
	CodeBodyTooLarge         = "body_too_large"
)

var errBodyTooLarge = fault.New(fault.Invalid, CodeBodyTooLarge, "the body must not be larger than %d bytes",
	MaxBodySize)

// ReadJSONBody reads the body of a request. The request must have the content
// type application/json, and a body of at most MaxBodySize bytes. ReadJSONBody
// does not parse the body; ParseObject does. The errors are Invalid.
func ReadJSONBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkJSON(r.Header.Values("Content-Type")); err != nil {
		return nil, err
	}
	if r.ContentLength > MaxBodySize {
		return nil, errBodyTooLarge
	}
	return checkBodyRead(readAll(w, r))
}

func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodySize))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func checkJSON(values []string) error {
	if len(values) == 1 {
		if values[0] == "application/json" {
			return nil
		}
		if kind, params, err := mime.ParseMediaType(values[0]); err == nil && kind == "application/json" {
			if charset := params["charset"]; charset == "" || strings.EqualFold(charset, "utf-8") {
				return nil
			}
		}
	}
	return fault.New(fault.Invalid, CodeUnsupportedMediaType,
		"the header Content-Type must be application/json (UTF-8)")
}

// ReadOptionalBody reads the body of a request that needs none, because the
// signature covers a body that is sent anyway. It returns nil if there is none.
func ReadOptionalBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	return checkBodyRead(io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodySize)))
}

// checkBodyRead converts the error of reading a body into an Invalid error.
func checkBodyRead(body []byte, err error) ([]byte, error) {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, errBodyTooLarge
	case err != nil:
		return nil, &fault.Error{Kind: fault.Invalid, Code: "invalid_request",
			Message: "the body could not be read to its end", Err: err}
	}
	return body, nil
}
