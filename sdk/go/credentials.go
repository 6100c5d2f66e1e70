package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Credentials are the credentials of one project, exactly as shown to its owner.
// The JSON names are those of quickstart.json, so that json.Unmarshal can read it.
// Printing, logging or marshaling Credentials shows only the project's id.
type Credentials struct {
	// ProjectID is a UUID. Rooms and the project's status need it.
	ProjectID string `json:"project_id"`
	// APIKey identifies the key pair on version 5 and in the calls that run a
	// meeting. It signs rooms and the project's status if ProjectSecret is empty.
	APIKey string `json:"api_key"`
	// GatewaySecret belongs to APIKey and signs version 5 and the calls that run
	// a meeting.
	GatewaySecret string `json:"gateway_secret"`
	// ProjectSecret signs rooms, the project's status and join events. Join events
	// cannot be signed with another credential.
	ProjectSecret string `json:"project_secret"`
}

// ErrMissingCredential is returned by a call without the credential that it needs.
// Nothing was sent.
var ErrMissingCredential = errors.New("parley: missing credential")

const redacted = "[redacted]"

// String returns the project, without secrets.
func (c Credentials) String() string { return fmt.Sprintf("credentials of project %q", c.ProjectID) }

// Format writes the text of String for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// LogValue returns the text of String for log/slog.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON returns only the project's id, because JSON is often logged.
func (c Credentials) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"project_id": c.ProjectID})
}

// check refuses characters that no credential contains, such as a line feed from a
// file, and credentials in each other's place, because the error of the server would not
// give that reason.
func (c Credentials) check() error {
	for _, field := range []struct{ name, value string }{
		{"ProjectID", c.ProjectID}, {"APIKey", c.APIKey},
		{"GatewaySecret", c.GatewaySecret}, {"ProjectSecret", c.ProjectSecret},
	} {
		for i := range len(field.value) {
			if field.value[i] <= ' ' || field.value[i] > '~' {
				return fmt.Errorf(
					"parley: %s must be printable ASCII without spaces, but has another character at position %d",
					field.name, i+1)
			}
		}
		for _, known := range prefixes {
			if known.field != field.name && strings.HasPrefix(field.value, known.prefix) {
				return fmt.Errorf("parley: %s begins with %s, so it is %s", field.name, known.prefix, known.name)
			}
		}
	}
	return nil
}

// prefixes are the beginnings of the credentials.
var prefixes = []struct{ prefix, field, name string }{
	{"pk_", "APIKey", "an API key"},
	{"gs_", "GatewaySecret", "a Gateway secret"},
	{"whsec_", "ProjectSecret", "a project secret"},
}

// replacer returns a replacer that redacts the secrets, in case a server repeats
// them.
func (c Credentials) replacer() *strings.Replacer {
	var pairs []string
	for _, secret := range []string{c.APIKey, c.GatewaySecret, c.ProjectSecret} {
		if secret != "" {
			pairs = append(pairs, secret, redacted)
		}
	}
	return strings.NewReplacer(pairs...)
}

func missingCredential(field string) error { return fmt.Errorf("%w: %s", ErrMissingCredential, field) }

// checkGatewayCredentials returns ErrMissingCredential if a credential of version
// 5 signatures is missing.
func (c Credentials) checkGatewayCredentials() error {
	switch {
	case c.APIKey == "":
		return missingCredential("APIKey")
	case c.GatewaySecret == "":
		return missingCredential("GatewaySecret")
	}
	return nil
}

// bodyKey returns the key that signs rooms and the project's status. It prefers
// the project secret, because a project can be set to refuse API keys.
func (c Credentials) bodyKey() (string, error) {
	switch {
	case c.ProjectID == "":
		return "", missingCredential("ProjectID")
	case c.ProjectSecret != "":
		return c.ProjectSecret, nil
	case c.APIKey != "":
		return c.APIKey, nil
	}
	return "", missingCredential("ProjectSecret or APIKey")
}
