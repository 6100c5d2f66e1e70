package client

import (
	"net/http"
	"strings"
)

// findRemedy returns what to do about an error response, one sentence that is the same in the SDK of
// every language; "" if the message of the server says all that is known. e.Attempts must be set.
func (c *Client) findRemedy(r *request, e *Error) string {
	switch {
	case e.Status/100 == 3:
		return "Use the address that the server redirects to as the base URL."
	case e.RequestID == "":
		return "The response does not come from a Parley server. " +
			"Check the base URL and the proxy in front of the server."
	case e.Status == http.StatusUnauthorized && r.bodyKey != "" && r.bodyKey == c.credentials.APIKey:
		return "Check that project_id and api_key belong together and that the key has not been replaced. " +
			"If the project has the setting require_secret_signatures, pass project_secret to the client."
	case e.Status == http.StatusUnauthorized && r.bodyKey != "":
		return "Check that project_id and project_secret belong together and that the secret has not been replaced."
	case e.Status == http.StatusUnauthorized && r.gatewaySigned:
		return "Check that api_key and gateway_secret belong together and that the key has not been replaced. " +
			"The request log of the project names the cause."
	case e.Status == http.StatusForbidden &&
		(e.Code == CodeProjectSuspended || strings.HasSuffix(e.Message, "suspended")):
		return "Ask the operator of the server why the project is suspended."
	case e.Status == http.StatusForbidden && e.Message == "the project is inactive":
		return "Activate the project with update_project_status."
	case e.Code == CodeGatewayDisabled:
		return "Ask the operator of the server to enable version 5."
	case e.Status == http.StatusConflict && e.Attempts > 1 && r.hasClientRoomID:
		return "An earlier attempt may have created the room. Look for client_room_id in the list of rooms."
	case e.Status == http.StatusGone:
		return "Use version 4 of the API."
	}
	return ""
}
