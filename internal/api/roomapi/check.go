package roomapi

import (
	"net/http"
	"strings"

	"parley/internal/fault"
	"parley/internal/requestlog"
)

// CheckSignature checks the signature of a request for the project that is not executed, as
// that of a creation, a change of the status or a join event. Who signed it and what is wrong
// is in the RequestInfo of its context. The error is Exhausted beyond the limit of failures.
func (a *API) CheckSignature(r *http.Request, projectID string, body []byte) (requestlog.SignatureCheck, error) {
	keyring, err := a.keys.Keyring(r.Context(), projectID)
	if err != nil {
		return requestlog.SignatureCheck{}, err
	}
	isJoinEvent := strings.Contains(r.URL.Path, "/webhook/")
	var result authentication
	if isJoinEvent {
		result = verifySignature(r, keyring, true, a.now(), body)
	} else {
		result = a.verifyRequest(r, keyring, body)
	}
	text := requestlog.BodySignedCall{Message: body,
		SecretsOnly: isJoinEvent || keyring.Project.Settings.RequireSecretSignatures}.Text()
	return requestlog.SignatureCheck{Text: text, Matches: result.matches}, a.finishCheck(r, result)
}

// CheckCompanionSignature is CheckSignature for a request of a companion route.
func (a *API) CheckCompanionSignature(r *http.Request, _ string, body []byte) (requestlog.SignatureCheck, error) {
	result, text, err := a.verifyCompanion(&Call{Request: r, Body: body})
	if err != nil {
		return requestlog.SignatureCheck{}, err
	}
	return requestlog.SignatureCheck{Text: text, Matches: result.matches}, a.finishCheck(r, result)
}

func (a *API) verifyCompanion(c *Call) (authentication, requestlog.SignedText, error) {
	if a.BodySignatures && len(c.Request.Header["Timestamp"]) == 0 {
		result, _, err := a.verifyBodySigned(c)
		return result, requestlog.BodySignedCall{Message: companionMessage(c), SecretsOnly: true}.Text(), err
	}
	result, _, err := a.verifyTimestamped(c)
	return result, signedCall(c.Request, c.Body).Text(), err
}

// finishCheck is finishAuthentication without the error for a rejected call.
func (a *API) finishCheck(r *http.Request, result authentication) error {
	err := a.finishAuthentication(r, result)
	if fault.Is(err, fault.Unauthorized) {
		return nil
	}
	return err
}
