package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// kind is what sort of value a setting takes.
type kind int

const (
	text kind = iota
	number
	boolean
	duration
	date
	list
)

// setting is one field of Config, as its tags describe it.
type setting struct {
	flag string // "rtc-udp-port"
	env  string // "PARLEY_RTC_UDP_PORT"
	key  string // in the file, "rtc_udp_port"
	kind kind
}

// configFlag is the one setting that the file cannot hold: its own path.
const configFlag = "config"

// settings lists the fields of Config that have a flag, in their order.
var settings = sync.OnceValue(func() []setting {
	var all []setting
	for field := range reflect.TypeFor[Config]().Fields() {
		env, ok := field.Tag.Lookup("setting")
		if !ok {
			continue
		}
		flag := field.Tag.Get("name")
		all = append(all, setting{
			flag: flag,
			env:  env,
			key:  strings.ReplaceAll(flag, "-", "_"),
			kind: kindOf(field.Type),
		})
	}
	return all
})

func kindOf(t reflect.Type) kind {
	if t == reflect.TypeFor[Duration]() {
		return duration
	}
	if t == reflect.TypeFor[Date]() {
		return date
	}
	switch t.Kind() {
	case reflect.Int:
		return number
	case reflect.Bool:
		return boolean
	case reflect.Slice:
		return list
	default:
		return text
	}
}

// canonical checks a value from the environment or the file and returns it as
// kong reads it. The error continues a sentence that begins with a name.
func (k kind) canonical(value string) (string, error) {
	switch k {
	case number:
		n, err := strconv.Atoi(value)
		if err != nil {
			return "", fmt.Errorf("must be a whole number, not %q", value)
		}
		return strconv.Itoa(n), nil
	case boolean:
		switch strings.ToLower(value) {
		case "true", "1", "yes":
			return "true", nil
		case "false", "0", "no":
			return "false", nil
		}
		return "", fmt.Errorf("must be true or false, not %q", value)
	case date:
		d, err := ParseDate(value)
		return d.String(), err
	case duration:
		if _, err := ParseDuration(value); err != nil {
			return "", err
		}
	}
	return value, nil
}
