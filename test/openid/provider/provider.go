// Package provider makes a real OpenID Connect provider for tests.
package provider

import (
	"net/http"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

// Password is the password of all users.
const Password = "verysecure"

// ClientSecret is the secret of each client that NewClient returns.
const ClientSecret = "secret"

// users are the users of a provider by their ID, which is also their name.
type users map[string]*storage.User

func (u users) GetUserByID(id string) *storage.User { return u[id] }

func (u users) GetUserByUsername(name string) *storage.User { return u[name] }

func (u users) ExampleClientID() string { return storage.ServiceUserID }

// NewClient returns a client that a provider sends back to one URL.
func NewClient(id, redirectURL string) *storage.Client {
	return storage.WebClient(id, ClientSecret, redirectURL)
}

// NewHandler returns a provider at a URL with new signing keys. Its users are ada, bob and eve. The email address of
// each is at example.org, and that of bob is not verified. The clients may be added later.
func NewHandler(url string, clients map[string]*storage.Client) http.Handler {
	all := users{}
	for _, name := range []string{"ada", "bob", "eve"} {
		all[name] = &storage.User{
			ID:            name,
			Username:      name,
			Password:      Password,
			Email:         name + "@example.org",
			EmailVerified: name != "bob",
		}
	}
	return exampleop.SetupServer(url, storage.NewStorageWithClients(all, clients), nil, false)
}
