package manage

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/requestlog"
)

// SignatureChecker checks the signature of a request for a project, which is not executed.
// It records who signed it and what is wrong in the RequestInfo of the request's context. The
// error is Exhausted if the client's address has failed too often.
type SignatureChecker func(r *http.Request, projectID string, body []byte) (requestlog.SignatureCheck, error)

// maxSentHeaders is the maximum number of headers of a request that is checked.
const maxSentHeaders = 50

func (s *server) CheckSignature(w http.ResponseWriter, r *http.Request, id string) {
	out, err := s.checkSignature(w, r, id)
	writeResult(w, r, out, err)
}

func (s *server) checkSignature(w http.ResponseWriter, r *http.Request, projectID string) (SignatureCheck, error) {
	sent, err := read[SignedRequest](w, r)
	if err != nil {
		return SignatureCheck{}, err
	}
	if _, err := s.Projects.Get(r.Context(), projectID); err != nil {
		return SignatureCheck{}, err
	}
	check, known := s.Signatures[string(sent.Version)]
	if !known {
		return SignatureCheck{}, fault.Invalidf("version must be v3, v4, v5 or companion, not %q", sent.Version)
	}
	signed, err := signedRequest(sent)
	if err != nil {
		return SignatureCheck{}, err
	}
	public, err := url.Parse(s.BaseURL())
	if err != nil {
		return SignatureCheck{}, err
	}
	signed.Host = cmp.Or(signed.Header.Get("Host"), public.Host)
	info := &httpx.RequestInfo{Client: httpx.FromContext(r.Context()).Client}
	signed = signed.WithContext(httpx.NewContext(r.Context(), info))
	result, err := check(signed, projectID, []byte(httpx.OrZero(sent.Body)))
	if err != nil {
		return SignatureCheck{}, err
	}
	out := SignatureCheck{Version: string(sent.Version), Profile: result.Text.Profile, SignedWith: result.Text.Key,
		SignedText: []SignedPart{}}
	for _, p := range result.Text.Parts {
		out.SignedText = append(out.SignedText, SignedPart{Label: p.Label, From: p.From, Value: p.Value})
	}
	if info.Caller.ProjectID != projectID {
		out.Cause = requestlog.CauseUnknownKey // the key of another project is as one that does not exist
		return out, nil
	}
	out.Matches, out.Accepted = result.Matches, info.Cause == ""
	out.KeySlot, out.Cause = CallKeySlot(info.Caller.KeySlot), info.Cause
	if info.Caller.HasTimestamp {
		out.ClockSkewSeconds = &info.Caller.ClockSkew
	}
	if info.Explain != nil {
		cause, hint := info.Explain(r.Context())
		if out.Hint = hint; cause != "" {
			out.Cause = cause
		}
		if out.Cause == requestlog.CauseRetiredKey {
			out.KeySlot = requestlog.SlotRetired
		}
	}
	return out, nil
}

// signedRequest returns the request that a client has sent, for the check of its signature.
func signedRequest(sent SignedRequest) (*http.Request, error) {
	target := sent.Path
	if query := httpx.OrZero(sent.Query); query != "" {
		target += "?" + query
	}
	u, err := url.ParseRequestURI(target)
	switch {
	case !strings.HasPrefix(sent.Path, "/") || strings.ContainsAny(sent.Path, "?#") || err != nil:
		return nil, fault.Invalidf("path must be a path without its query, such as /api/v5/keys, not %q", sent.Path)
	case sent.Method == "" || strings.ContainsAny(sent.Method, " \r\n"):
		return nil, fault.Invalidf("method must be a method such as POST, not %q", sent.Method)
	case sent.Headers != nil && len(*sent.Headers) > maxSentHeaders:
		return nil, fault.Invalidf("headers must have at most %d entries", maxSentHeaders)
	}
	r := &http.Request{
		Method:     strings.ToUpper(sent.Method),
		URL:        u,
		RequestURI: target,
		Header:     http.Header{},
		Body:       http.NoBody,
	}
	if sent.Headers != nil {
		for _, h := range *sent.Headers {
			r.Header.Add(h.Name, strings.TrimSpace(h.Value))
		}
	}
	return r, nil
}
