package config

import "fmt"

// dump formats a configuration as a careless log line would.
func dump(c Config) string { return fmt.Sprintf("%+v\n%#v", c, c) }
