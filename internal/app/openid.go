package app

import (
	"time"

	"parley/internal/api/manage"
	"parley/internal/openid"
)

// openIDProvider returns nil if people cannot sign in with OpenID Connect.
func (a *App) openIDProvider(now func() time.Time) (manage.OpenID, error) {
	if a.cfg.OIDCIssuer == "" {
		return nil, nil
	}
	secret, err := a.cfg.OIDCSecret()
	if err != nil {
		return nil, err
	}
	allowed, err := a.cfg.OIDCAllowed()
	if err != nil {
		return nil, err
	}
	return openid.New(openid.Config{
		Issuer:       a.cfg.OIDCIssuer,
		ClientID:     a.cfg.OIDCClientID,
		ClientSecret: secret,
		Name:         a.cfg.OIDCName,
		Allowed:      allowed,
		RedirectURL:  func() string { return a.BaseURL() + manage.OpenIDCallbackPath },
	}, now), nil
}
