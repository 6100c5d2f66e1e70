package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"parley/internal/config"
	"parley/internal/doctor"
)

type doctorCommand struct {
	config.Config
	JSON   bool `name:"json" help:"JSON output."`
	Strict bool `help:"Exit status 1 also for warnings."`
}

// Run checks this machine and the settings. The exit status is 1 if there is an error.
func (c doctorCommand) Run(ctx context.Context, s *streams) error {
	report := doctor.Run(ctx, c.Config)
	var err error
	if c.JSON {
		err = printJSON(s.out, report)
	} else {
		err = printDoctorReport(s.out, report)
	}
	if err != nil {
		return err
	}
	if worst := report.Worst(); worst == doctor.Error || c.Strict && worst != "" {
		return exitStatus(exitError)
	}
	return nil
}

func printDoctorReport(w io.Writer, report doctor.Report) error {
	for _, result := range report.Checks {
		for _, f := range result.Findings {
			fmt.Fprintf(w, "%-8s %s: %s\n         change: %s\n", strings.ToUpper(string(f.Level)), f.ID, sanitizeText(f.Text),
				sanitizeText(f.Change))
		}
		switch {
		case len(result.Findings) > 0:
		case result.Unknown != "":
			fmt.Fprintf(w, "%-8s %s: %s\n", "unknown", result.Check, sanitizeText(result.Unknown))
		default:
			fmt.Fprintf(w, "%-8s %s: %s\n", "ok", result.Check, sanitizeText(result.Detail))
		}
	}
	return nil
}
