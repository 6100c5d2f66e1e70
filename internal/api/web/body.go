package web

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"parley/internal/fault"
)

// The codes of refusals that concern the body as a whole. Each API maps them
// to its statuses.
const (
	CodeNotJSON  = "unsupported_media_type"
	CodeTooLarge = "body_too_large"
)

var errTooLarge = fault.New(fault.Invalid, CodeTooLarge, "the body must not be larger than %d bytes", BodyLimit)

// Body reads the body of a request, once: it must say that it is JSON and stay
// within BodyLimit. Whether it is JSON is for Parse to say.
func Body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkJSON(r.Header.Values("Content-Type")); err != nil {
		return nil, err
	}
	if r.ContentLength > BodyLimit {
		return nil, errTooLarge
	}
	return bounded(readAll(w, r))
}

func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, BodyLimit))
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
	return fault.New(fault.Invalid, CodeNotJSON, "the header Content-Type must be application/json (UTF-8)")
}

// RawBody reads the body of a request that needs none, where it is part of
// what is signed: nil when none was sent.
func RawBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	return bounded(io.ReadAll(http.MaxBytesReader(w, r.Body, BodyLimit)))
}

// bounded says what went wrong with the reading of a body.
func bounded(body []byte, err error) ([]byte, error) {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, errTooLarge
	case err != nil:
		return nil, &fault.Error{Kind: fault.Invalid, Code: "invalid_request", Message: "the body could not be read to its end", Err: err}
	}
	return body, nil
}
