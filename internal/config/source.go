package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"parley/internal/seal"
)

const (
	envMasterKey     = "PARLEY_MASTER_KEY" // has no flag
	envMasterKeyFile = "PARLEY_MASTER_KEY_FILE"
)

// commandVariables are the variables of other commands than those with a Config, and of the examples
// in the documentation. A machine on which commands run often has them for all processes.
var commandVariables = []string{
	"PARLEY_URL", "PARLEY_ADMIN_TOKEN", "PARLEY_PROJECT_ID", "PARLEY_PROJECT_SECRET", "PARLEY_API_KEY",
	"PARLEY_GATEWAY_SECRET", "PARLEY_COPY_TO", "PARLEY_ROOM_ID",
}

const envPrefix = "PARLEY_"

// environment contains the variables with a value. A variable that is set but
// empty counts as unset.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

// Options returns the options of kong.New for a command that embeds Config or
// Storage.
// environ has the form of os.Environ(). Settings do not use kong's "env" tag,
// because it treats an empty variable as set and has a lower precedence than a
// file.
func Options(environ []string) []kong.Option {
	return []kong.Option{
		kong.Bind(newEnvironment(environ)),
		kong.PostBuild(func(k *kong.Kong) error {
			return kong.Visit(k.Model.Node, nameVariable)
		}),
	}
}

// nameVariable appends the environment variable to the help of a flag.
func nameVariable(node kong.Visitable, next kong.Next) error {
	if flag, ok := node.(*kong.Flag); ok {
		if env := flag.Tag.Get("setting"); env != "" {
			flag.Help += " ($" + env + ")"
		}
	}
	return next(nil)
}

// BeforeResolve is kong's hook after parsing the command line. It passes the
// values of the environment and the file to kong.
func (c *Storage) BeforeResolve(ctx *kong.Context, env environment) error {
	given := flagsGiven(ctx)
	values := map[string]string{}
	c.sources = map[string]Source{}
	path, ok := given[configFlag]
	if !ok {
		path = env["PARLEY_CONFIG"]
	}
	if path != "" {
		var err error
		if values, err = readFile(path); err != nil {
			return err
		}
	}
	c.setSources(FromFile, values)
	fromEnvironment, err := parseEnvironment(env)
	if err != nil {
		return err
	}
	c.setSources(FromEnvironment, fromEnvironment)
	maps.Copy(values, fromEnvironment)
	c.setSources(FromFlag, given)
	isSet := func(flag string) bool {
		value, ok := given[flag]
		if !ok {
			value = values[flag]
		}
		return strings.Trim(value, "[] ,") != "" // a list is given as [a b]
	}
	if c.sources["listen"] == "" && (isSet("tls-domain") || isSet("tls-cert-file")) {
		values["listen"] = defaultTLSListen
	}
	if _, ok := given["master-key-file"]; !ok {
		if env[envMasterKey] != "" && env[envMasterKeyFile] != "" {
			return errors.New(envMasterKey + " and " + envMasterKeyFile + " are both set: unset one of them")
		}
		c.MasterKey = seal.Secret(env[envMasterKey])
	}
	ctx.AddResolver(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if value, ok := values[flag.Name]; ok && flag.Tag.Has("setting") {
			return value, nil
		}
		return nil, nil
	}))
	return nil
}

// flagsGiven returns the settings on the command line with their values as text.
func flagsGiven(ctx *kong.Context) map[string]string {
	given := map[string]string{}
	for _, step := range ctx.Path {
		if step.Flag != nil && step.Flag.Tag.Has("setting") {
			given[step.Flag.Name] = fmt.Sprint(ctx.FlagValue(step.Flag))
		}
	}
	return given
}

// setSources records where settings come from. Later calls are for stronger sources.
func (c *Storage) setSources(source Source, values map[string]string) {
	for flag := range values {
		c.sources[flag] = source
	}
}

// parseEnvironment returns the settings of the environment by flag.
func parseEnvironment(env environment) (map[string]string, error) {
	values := map[string]string{}
	for _, s := range settings() {
		value, ok := env[s.env]
		if !ok {
			continue
		}
		parsed, err := s.valueType.normalize(value)
		if err != nil {
			return nil, fmt.Errorf("%s %w", s.env, err)
		}
		values[s.flag] = parsed
	}
	return values, nil
}

// Default returns the default settings.
func Default() Config {
	var c Config
	if err := kong.ApplyDefaults(&c, Options(nil)...); err != nil {
		panic("config: the defaults are invalid: " + err.Error())
	}
	return c
}

// UnknownEnv returns the names in environ (in the form of os.Environ) that begin
// with PARLEY_ and have no meaning, sorted. They are probably misspelled. Names in
// extra are known too, and so are those that Kubernetes sets for a Service whose name begins with
// "parley" (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
func UnknownEnv(environ []string, extra ...string) []string {
	known := slices.Concat([]string{envMasterKey}, commandVariables, extra)
	for _, s := range settings() {
		known = append(known, s.env)
	}
	var unknown, services []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
		if service, ok := strings.CutSuffix(name, "_SERVICE_HOST"); ok {
			services = append(services, service)
		}
	}
	unknown = slices.DeleteFunc(unknown, func(name string) bool {
		return slices.ContainsFunc(services, func(service string) bool {
			return strings.HasPrefix(name, service+"_SERVICE_") || name == service+"_PORT" ||
				strings.HasPrefix(name, service+"_PORT_")
		})
	})
	slices.Sort(unknown)
	return unknown
}
