package join

import (
	"net/http"

	"parley/internal/api/httpx"
	"parley/internal/fault"
	"parley/internal/refusal"
)

// writeError writes the response for an error. An unknown room counts as a wrong
// guess of the client's address.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	if f.Code == string(ErrorCodeRoomNotFound) || f.Code == string(ErrorCodeCheckNotFound) {
		if limitErr := s.recordGuess(r); limitErr != nil {
			f = fault.From(limitErr)
		}
	}
	httpx.LogFault(r, f)
	switch ErrorCode(f.Code) {
	case ErrorCodeTooManyJoins:
		s.refusals.Record(refusal.NewSeats, f.Message, "client", httpx.FromContext(r.Context()).Client,
			"room_id", r.PathValue("room_id"))
	case ErrorCodeCheckBusy:
		s.refusals.Record(refusal.Checks, f.Message, "client", httpx.FromContext(r.Context()).Client)
	}
	if f.RetryAfter > 0 {
		httpx.SetRetryAfter(w.Header(), f.RetryAfter)
	}
	title := ""
	if f.Code == string(ErrorCodeRoomEnded) {
		var err error
		title, err = s.joining.PublicTitle(r.Context(), r.PathValue("room_id"))
		httpx.LogError(r, err) // the error is complete without the title
	}
	writeErrorBody(w, httpx.Status(f, nil), f, title)
}

func writeErrorBody(w http.ResponseWriter, status int, f *fault.Error, title string) {
	var out Error
	out.Error.Code, out.Error.Message = ErrorCode(f.Code), f.Message
	if f.Reason != "" {
		value := EndReason(f.Reason)
		out.Error.Reason = &value
	}
	if out.Error.Code == ErrorCodeRoomFull && f.Limit > 0 {
		out.Error.MaxParticipants = &f.Limit
	}
	out.Error.Title = httpx.OrNil(title)
	httpx.WriteJSON(w, status, out)
}

func notFound(w http.ResponseWriter, _ *http.Request) {
	writeErrorBody(w, http.StatusNotFound,
		fault.New(fault.NotFound, string(ErrorCodeRoomNotFound), "there is no such path"), "")
}

func notAllowed(w http.ResponseWriter, r *http.Request) {
	writeErrorBody(w, http.StatusMethodNotAllowed,
		fault.Invalidf("this path takes %s, not %s", w.Header().Get("Allow"), r.Method), "")
}
