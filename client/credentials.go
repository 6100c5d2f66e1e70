package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// Credentials are those of one project, exactly as shown to its owner. The
// names in JSON are those of quickstart.json, so that it can be read with
// json.Unmarshal. Printing, logging or marshalling Credentials shows the
// project's id alone.
type Credentials struct {
	// ProjectID is a UUID. Rooms and the project's status need it.
	ProjectID string `json:"project_id"`
	// APIKey names the key pair to version 5 and to the calls that run a meeting,
	// and signs rooms and the project's status where ProjectSecret is empty.
	APIKey string `json:"api_key"`
	// GatewaySecret belongs to APIKey and signs version 5 and the calls that run
	// a meeting.
	GatewaySecret string `json:"gateway_secret"`
	// ProjectSecret signs rooms and the project's status, and join events,
	// which nothing else can sign.
	ProjectSecret string `json:"project_secret"`
}

// ErrMissingCredential is returned by a call that needs a credential which the
// Client was not given. Nothing was sent.
var ErrMissingCredential = errors.New("parley: missing credential")

const redacted = "[redacted]"

// String names the project, and no secret.
func (c Credentials) String() string { return fmt.Sprintf("credentials of project %q", c.ProjectID) }

// Format writes what String returns, whatever the verb.
func (c Credentials) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// LogValue is what log/slog writes.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON writes the project's id alone, because JSON is logged too.
func (c Credentials) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"project_id": c.ProjectID})
}

// check refuses what cannot be a credential, mostly a line feed from a file.
// The server would refuse it too, and could not say why.
func (c Credentials) check() error {
	for _, field := range []struct{ name, value string }{
		{"ProjectID", c.ProjectID}, {"APIKey", c.APIKey}, {"GatewaySecret", c.GatewaySecret}, {"ProjectSecret", c.ProjectSecret},
	} {
		for i := range len(field.value) {
			if field.value[i] <= ' ' || field.value[i] > '~' {
				return fmt.Errorf("parley: %s has a character at position %d that no credential has: a blank, a line feed or one beyond ASCII", field.name, i+1)
			}
		}
	}
	return nil
}

// replacer takes secrets out of a text, in case a server repeats them.
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

// checkGatewayCredentials reports what is missing to sign with the time.
func (c Credentials) checkGatewayCredentials() error {
	switch {
	case c.APIKey == "":
		return missingCredential("APIKey")
	case c.GatewaySecret == "":
		return missingCredential("GatewaySecret")
	}
	return nil
}

// bodyKey returns what signs rooms and the project's status. The project
// secret comes first: a project can be set to take nothing else.
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
