package config

import (
	"strings"
	"testing"
)

func TestConfigFile_Errors(t *testing.T) {
	for _, c := range []struct{ name, content, want string }{
		{"unknown", "listen: 127.0.0.1:1\nlistn: x\n", `line 2: unknown setting "listn", did you mean "listen"?`},
		{"with hyphens", "rtc-udp-port: 1\n", `line 1: unknown setting "rtc-udp-port", did you mean "rtc_udp_port"?`},
		{"in upper case", "PARLEY_LISTEN: x\n", `line 1: unknown setting "PARLEY_LISTEN", did you mean "listen"?`},
		{"mistyped twice", "rtc_upd_prt: 1\n", `line 1: unknown setting "rtc_upd_prt"`},
		{"the file in the file", "config: other.yaml\n", `line 1: unknown setting "config"`},
		{"merge key", "<<: {listen: x}\n", `line 1: unknown setting "<<"`},
		{"twice", "listen: a:1\n\nlisten: b:1\n", `line 3: duplicate setting listen`},
		{"nested", "rtc:\n  udp_port: 1\n", `line 1: unknown setting "rtc"`},
		{"text as number", "listen: 8080\n", `line 1: listen must be a string, in quotes if YAML would parse it as another type`},
		{"text as list", "\nlisten: [a]\n", `line 2: listen must be a string, in quotes if YAML would parse it as another type`},
		{"text as nothing", "public_url:\n", `line 1: public_url must be a string, in quotes if YAML would parse it as another type`},
		{"number as text", `rtc_udp_port: "1"`, `line 1: rtc_udp_port must be a whole number`},
		{"number with a point", "rtc_udp_port: 1.0\n", `line 1: rtc_udp_port must be a whole number`},
		{"number as mapping", "rtc_udp_port:\n  a: 1\n", `line 2: rtc_udp_port must be a whole number`},
		{"boolean as text", "gateway_enabled: \"true\"\n", `line 1: gateway_enabled must be true or false`},
		{"boolean as number", "gateway_enabled: 1\n", `line 1: gateway_enabled must be true or false`},
		{"duration without unit", "clock_skew: 300\n", `line 1: clock_skew must be a duration with its unit, such as 90s, 5m or 1d`},
		{"duration as nonsense", "clock_skew: soon\n", `line 1: clock_skew must be a duration with its unit, such as 90s, 5m or 1d, not "soon"`},
		{"date as number", "v3_sunset_date: 2027\n", `line 1: v3_sunset_date must be a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z`},
		{"date as nonsense", "v3_sunset_date: 2027-02-30\n", `line 1: v3_sunset_date must be a date such as 2027-01-31, or a time such as 2027-01-31T09:30:00Z, not "2027-02-30"`},
		{"list as number", "trusted_proxies: 10\n", `line 1: trusted_proxies must be a list of strings, or one string`},
		{"list of numbers", "trusted_proxies:\n  - 10.0.0.1\n  - 10\n", `line 2: trusted_proxies must be a list of strings, or one string`},
		{"no mapping", "- listen\n", `line 1: must be a mapping of settings, name: value`},
		{"plain text", "listen\n", `line 1: must be a mapping of settings, name: value`},
		{"two documents", "listen: a:1\n---\nlisten: b:1\n", `contains more than one YAML document`},
		{"no YAML", "listen: [\n", `yaml: line 1: did not find expected node content`},
		{"secret of a wrong type", "database_url: {password: very-secret}\n", `line 1: database_url must be a string, in quotes if YAML would parse it as another type`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := writeFile(t, c.content)
			_, err := load(t, nil, "--config", path)
			if want := "the configuration file " + path + ": " + c.want; err == nil || err.Error() != want {
				t.Errorf("got error  %v\nwant error %s", err, want)
			}
		})
	}
}

func TestConfigFile_Empty(t *testing.T) {
	for _, content := range []string{"", "\n", "# nothing\n", "---\n", "---\n...\n", "null\n", "{}\n"} {
		values, err := parseFile([]byte(content))
		if err != nil || len(values) != 0 {
			t.Errorf("parse %q: got %v, %v, want no settings", content, values, err)
		}
	}
}

func TestConfigFile_ListForms(t *testing.T) {
	for content, want := range map[string]string{
		"trusted_proxies: 10.0.0.1,10.0.0.2":     "10.0.0.1,10.0.0.2",
		"trusted_proxies: []":                    "",
		"trusted_proxies:\n- ::1\n- 10.0.0.0/8":  "::1,10.0.0.0/8",
		`{"trusted_proxies": ["10.0.0.1"]}`:      "10.0.0.1",
		"trusted_proxies: &a [10.0.0.1] # named": "10.0.0.1",
	} {
		values, err := parseFile([]byte(content))
		if err != nil || values["trusted-proxies"] != want {
			t.Errorf("parse %q: got %q, %v, want trusted-proxies %q", content, values, err, want)
		}
	}
	values, err := parseFile([]byte("rtc_udp_port: 0x10"))
	if err == nil || !strings.Contains(err.Error(), "rtc_udp_port must be a whole number") {
		t.Errorf("parse a hexadecimal number: got %v, %v, want an error", values, err)
	}
}

func TestConfigFile_DurationZero(t *testing.T) {
	for _, content := range []string{"retention_rooms: 0\n", "retention_rooms: \"0\"\n", "retention_rooms: 0s\n"} {
		c, err := load(t, nil, "--config", writeFile(t, content))
		if err != nil || c.RetentionRooms != 0 {
			t.Errorf("load %q: got retention-rooms %s, %v, want 0s", content, c.RetentionRooms, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{
		"listen: 127.0.0.1:8080\n", "trusted_proxies: [a, b]\n", "clock_skew: 5m\ngateway_enabled: false\n", "a: &x [*x]\n",
		"? [a]\n: b\n", "!!binary x: y\n", "---\n---\n", "\x00", "&a listen: *a\n", "rtc_udp_port: 99999999999999999999\n", "<<: *x\n",
	} {
		f.Add([]byte(s))
	}
	known := map[string]valueType{}
	for _, s := range settings() {
		known[s.flag] = s.valueType
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := parseFile(data)
		if err != nil {
			return
		}
		for flag, value := range values {
			k, ok := known[flag]
			if !ok || flag == configFlag {
				t.Fatalf("parse %q: got %q, want settings only", data, flag)
			}
			if _, err := k.normalize(value); err != nil {
				t.Fatalf("parse %q: normalize %s %q: got error %v, want none", data, flag, value, err)
			}
		}
	})
}
