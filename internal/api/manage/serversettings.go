package manage

import (
	"net/http"
)

func (s *server) ListSettings(w http.ResponseWriter, r *http.Request) {
	out := SettingList{Settings: []Setting{}}
	for _, v := range s.Settings {
		out.Settings = append(out.Settings, Setting{
			Name:        v.Name,
			Flag:        v.Flag,
			Environment: v.Environment,
			Value:       v.Text,
			Source:      SettingSource(v.Source),
			Secret:      v.Secret,
			Help:        v.Help,
		})
	}
	writeResult(w, r, out, nil)
}
