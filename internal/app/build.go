package app

import "runtime/debug"

// BuildInfo describes this program.
type BuildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
}

// Build returns the description of this program.
func Build() BuildInfo {
	b := BuildInfo{Version: "devel"}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Go = info.GoVersion
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			b.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				b.Revision = setting.Value
			}
		}
	}
	return b
}
