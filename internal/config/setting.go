package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// valueType is the type of a setting's value.
type valueType int

const (
	typeText valueType = iota
	typeNumber
	typeBoolean
	typeDuration
	typeDate
	typeList
)

// setting describes one field of Config by its tags.
type setting struct {
	flag      string // "rtc-udp-port"
	env       string // "PARLEY_RTC_UDP_PORT"
	key       string // in the file, "rtc_udp_port"
	valueType valueType
	help      string
	index     []int // of the field in Config
}

// configFlag is the one setting that the file cannot contain: its own path.
const configFlag = "config"

// settings lists the fields of Config that have a flag, in the order of the
// struct.
var settings = sync.OnceValue(func() []setting {
	var all []setting
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		env, ok := field.Tag.Lookup("setting")
		if !ok {
			continue
		}
		flag := field.Tag.Get("name")
		all = append(all, setting{
			flag:      flag,
			env:       env,
			key:       strings.ReplaceAll(flag, "-", "_"),
			valueType: valueTypeOf(field.Type),
			help:      field.Tag.Get("help"),
			index:     field.Index,
		})
	}
	return all
})

func valueTypeOf(t reflect.Type) valueType {
	if t == reflect.TypeFor[Duration]() {
		return typeDuration
	}
	if t == reflect.TypeFor[Date]() {
		return typeDate
	}
	switch t.Kind() {
	case reflect.Int:
		return typeNumber
	case reflect.Bool:
		return typeBoolean
	case reflect.Slice:
		return typeList
	default:
		return typeText
	}
}

// normalize checks a value from the environment or the file and returns it in the
// form that kong parses. The error continues a sentence that begins with a name.
func (k valueType) normalize(value string) (string, error) {
	switch k {
	case typeNumber:
		n, err := strconv.Atoi(value)
		if err != nil {
			return "", fmt.Errorf("must be a whole number, not %q", value)
		}
		return strconv.Itoa(n), nil
	case typeBoolean:
		switch strings.ToLower(value) {
		case "true", "1", "yes":
			return "true", nil
		case "false", "0", "no":
			return "false", nil
		}
		return "", fmt.Errorf("must be true or false, not %q", value)
	case typeDate:
		d, err := ParseDate(value)
		return d.String(), err
	case typeDuration:
		if _, err := ParseDuration(value); err != nil {
			return "", err
		}
	}
	return value, nil
}
