package config

import (
	"errors"
	"net/mail"
	"net/url"
	"os"
	"strings"

	"parley/internal/seal"
	"parley/internal/validate"
)

// maxOIDCName is the maximum length of OIDCName in characters.
const maxOIDCName = 50

// OIDCSecret returns OIDCClientSecret, or the content of OIDCClientSecretFile without white space
// around it. The error is the same as that of Validate.
func (c *Config) OIDCSecret() (seal.Secret, error) {
	if c.OIDCClientSecretFile == "" {
		return c.OIDCClientSecret, nil
	}
	const flag = "oidc-client-secret-file"
	if c.OIDCClientSecret != "" {
		return "", settingError(flag, "and --oidc-client-secret are both set: unset one of them")
	}
	content, err := os.ReadFile(c.OIDCClientSecretFile)
	if err != nil {
		return "", settingError(flag, "cannot be read: %w", err)
	}
	secret := strings.TrimSpace(string(content))
	return seal.Secret(secret), check(secret != "", flag, "is empty: %s", c.OIDCClientSecretFile)
}

// OIDCAllowed returns OIDCAllow in lower case: email addresses, and domains that begin with @.
// The error is the same as that of Validate.
func (c *Config) OIDCAllowed() (allowed []string, err error) {
	for _, text := range c.OIDCAllow {
		text = strings.ToLower(strings.TrimSpace(text))
		if text == "" {
			continue
		}
		address := text
		if strings.HasPrefix(text, "@") {
			address = "name" + text
		}
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address {
			return nil, settingError("oidc-allow",
				"must be email addresses such as ada@example.org, or domains such as @example.org, not %q", text)
		}
		allowed = append(allowed, text)
	}
	if len(c.OIDCAllow) > 0 && len(allowed) == 0 { // an empty list would admit everybody
		return nil, settingError("oidc-allow", "must have at least one email address or domain")
	}
	return allowed, nil
}

func (c *Config) checkOIDC() error {
	_, secretErr := c.OIDCSecret()
	_, allowErr := c.OIDCAllowed()
	others := errors.Join(secretErr, allowErr, check(validate.Name("name", c.OIDCName, 1, maxOIDCName) == nil, "oidc-name",
		"must have 1 to %d visible characters on one line", maxOIDCName))
	switch {
	case c.OIDCIssuer == "" && c.OIDCClientID == "":
		const needs = "needs --oidc-issuer and --oidc-client-id"
		return errors.Join(others, check(c.OIDCClientSecret == "", "oidc-client-secret", needs),
			check(c.OIDCClientSecretFile == "", "oidc-client-secret-file", needs),
			check(len(c.OIDCAllow) == 0, "oidc-allow", needs))
	case c.OIDCIssuer == "":
		return errors.Join(others, settingError("oidc-client-id", "needs --oidc-issuer"))
	case c.OIDCClientID == "":
		return errors.Join(others, settingError("oidc-issuer", "needs --oidc-client-id"))
	}
	u, err := url.Parse(c.OIDCIssuer)
	secure := err == nil && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()))
	return errors.Join(others, check(secure && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "",
		"oidc-issuer", "must be an https URL without a user name, query or fragment, such as https://login.example.org"))
}
