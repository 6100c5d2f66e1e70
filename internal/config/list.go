package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"parley/internal/seal"
)

// Source says where the value of a setting comes from.
type Source string

// The sources, the strongest first.
const (
	FromFlag        Source = "flag"
	FromEnvironment Source = "environment"
	FromFile        Source = "file"
	FromDefault     Source = "default"
)

// Value is a setting for display. It contains no secrets.
type Value struct {
	Name        string // the key in the file
	Flag        string // "--listen"; empty for the master key, which has no flag
	Environment string // the variable
	Text        string // a secret is "set" or "not set"; a URL has no password
	Source      Source
	Secret      bool
	Help        string
}

// Values returns all settings in the order of the struct.
func (c *Config) Values() []Value {
	var all []Value
	fields := reflect.ValueOf(c).Elem()
	for _, s := range settings() {
		v := Value{
			Name:        s.key,
			Flag:        "--" + s.flag,
			Environment: s.env,
			Source:      c.sourceOf(s.flag),
			Help:        s.help,
		}
		v.Text, v.Secret = displayText(s.key, fields.FieldByIndex(s.index).Interface())
		all = append(all, v)
	}
	key := Value{
		Name:        "master_key",
		Environment: envMasterKey,
		Text:        setText(c.MasterKey),
		Source:      FromDefault,
		Secret:      true,
		Help:        "The master key itself, in place of a file.",
	}
	if c.MasterKey != "" {
		key.Source = FromEnvironment
	}
	return append(all, key)
}

func (c *Config) sourceOf(flag string) Source {
	if source, ok := c.sources[flag]; ok {
		return source
	}
	return FromDefault
}

// displayText returns the value of a setting as a text without passwords, and whether the value
// as a whole is a secret.
func displayText(name string, value any) (text string, secret bool) {
	switch value := value.(type) {
	case seal.Secret:
		if name == "database_url" || name == "redis_url" {
			return withoutPassword(value), false
		}
		return setText(value), true
	case []string:
		return strings.Join(value, ", "), false
	case Duration:
		return value.String(), false
	}
	return fmt.Sprint(value), false
}

// withoutPassword returns a URL without its password and its query, which may have one too.
// It returns only whether another secret is set.
func withoutPassword(secret seal.Secret) string {
	u, err := url.Parse(secret.Reveal())
	if err != nil || u.Host == "" {
		return setText(secret)
	}
	if name := u.User.Username(); name == "" {
		u.User = nil
	} else {
		u.User = url.User(name)
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

func setText(secret seal.Secret) string {
	if secret == "" {
		return "not set"
	}
	return "set"
}
