package doctor

import (
	"context"
	"slices"

	"parley/internal/config"
)

// The checks that only the running server makes.
const (
	ParticipantsCheck = "participants" // of the connections of real participants
	WebhooksCheck     = "webhooks"
	ServerCheck       = "server" // of everything else that the server finds
)

// liveFindings are the findings that the running server makes whenever it is asked, with the check they belong to.
// All that are neither here nor among those of RunInServer belong to ServerCheck.
var liveFindings = map[string]string{
	"participants_not_connected": ParticipantsCheck,
	"udp_unused":                 ParticipantsCheck,
	"webhook_target_failing":     WebhooksCheck,
	"webhook_target_paused":      WebhooksCheck,
	"webhook_target_held":        WebhooksCheck,
	"port":                       portsCheck,
	"certificate_missing":        certificateCheck,
	"certificate_expires":        certificateCheck,
	"backup_overdue":             backupsCheck,
	"redis_unavailable":          redisCheck,
	// The limits of the server may differ from those of a command.
	"open_files":      openFilesCheck,
	"memory_low":      memoryCheck,
	"processor_limit": processorsCheck,
}

// reasons are the findings of the running server that say why there is another finding of Run.
var reasons = map[string][]string{
	"server_unavailable": {"database_read_only", "media_unavailable"},
	"certificate_file":   {"certificate_missing"},
}

// askServer is a check that only the running server makes.
func askServer(context.Context, config.Config) Result { return onlyServer() }

// onlyServer returns the result of a check that the running server decides.
func onlyServer() Result {
	result := unknown("only the running server can check this")
	result.onlyServer = true
	return result
}

// AddFromServer adds what the running server has found. The details say what is fine, by check. A finding that the
// server makes only now and then does not change a check of Run, because Run is newer. Every other finding replaces the
// same finding of Run, because the server knows the cause, such as the error of its last backup.
func (r *Report) AddFromServer(found []Finding, details map[string]string) {
	added := make([][]Finding, len(r.Checks))
	var known []Finding
	for _, f := range found {
		i, live := r.checkOf(f.ID)
		if live || r.Checks[i].Unknown != "" {
			added[i], known = append(added[i], f), append(known, f)
		}
	}
	for i := range r.Checks {
		check := &r.Checks[i]
		if check.onlyServer {
			check.Unknown, check.Detail = "", "the running server finds nothing wrong"
			if detail := details[check.Check]; detail != "" {
				check.Detail = detail
			}
		}
		before := len(check.Findings)
		check.Findings = slices.DeleteFunc(check.Findings, func(f Finding) bool { return isReplaced(f, known) })
		if len(check.Findings) < before {
			check.Detail = "see the findings of the running server"
		}
		check.Findings = append(check.Findings, added[i]...)
	}
}

// SetServerUnknown says why the running server could not be asked.
func (r *Report) SetServerUnknown(reason string) {
	i, _ := r.checkOf("")
	r.Checks[i].Unknown = reason
}

// checkOf returns the index of the check to which a finding of the running server belongs. It reports live unless the
// server makes the finding only now and then, and Run makes it, too.
func (r *Report) checkOf(id string) (i int, live bool) {
	name, live := liveFindings[id]
	if name == "" {
		name, live = ServerCheck, true
	}
	for _, c := range checks {
		if slices.Contains(c.serverFindings, id) {
			name, live = c.name, false
		}
	}
	// Without TLS, the server knows the certificate of its proxy only from the same check.
	sawCertificate := func(c Result) bool { return c.sawCertificate }
	if i := slices.IndexFunc(r.Checks, sawCertificate); id == "certificate_expires" && i >= 0 {
		return i, false
	}
	return slices.IndexFunc(r.Checks, func(c Result) bool { return c.Check == name }), live
}

// isReplaced reports whether findings of the running server say the same as a finding of Run, or why it is there.
func isReplaced(f Finding, known []Finding) bool {
	return slices.ContainsFunc(known, func(k Finding) bool {
		return k.ID == f.ID || slices.Contains(reasons[f.ID], k.ID)
	})
}
