package doctor

import (
	"testing"

	"parley/internal/metrics"
)

// The connections of participants say that UDP is blocked, or that many get no media, once there are
// enough of them.
func TestFromParticipants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		connections metrics.MediaConnections
		enough      bool
		want        string
	}{
		"too few":           {metrics.MediaConnections{TCP: 15, NotConnected: 4}, false, ""},
		"most over UDP":     {metrics.MediaConnections{UDP: 205, TCP: 9, NotConnected: 2}, true, ""},
		"some get nothing":  {metrics.MediaConnections{UDP: 80, NotConnected: 20}, true, ""},
		"many get nothing":  {metrics.MediaConnections{UDP: 79, NotConnected: 21}, true, "participants_not_connected"},
		"nobody over UDP":   {metrics.MediaConnections{TCP: 20}, true, "udp_unused"},
		"one over UDP":      {metrics.MediaConnections{UDP: 1, TCP: 40}, true, ""},
		"nobody gets media": {metrics.MediaConnections{NotConnected: 20}, true, "participants_not_connected udp_unused"},
	} {
		ofClosedPort, _ := FromParticipants(c.connections, 0)
		for _, f := range ofClosedPort {
			if f.ID == "udp_unused" {
				t.Errorf("%s, without the UDP port: got the finding %s, want none of it", name, f.ID)
			}
		}
		findings, enough := FromParticipants(c.connections, 7882)
		got := ""
		for _, f := range findings {
			if got != "" {
				got += " "
			}
			got += f.ID
			if check := liveFindings[f.ID]; check != "participants" {
				t.Errorf("%s: %s belongs to the check %q, want participants", name, f.ID, check)
			}
		}
		if got != c.want || enough != c.enough {
			t.Errorf("%s: got the findings %q, enough %t, want %q, %t", name, got, enough, c.want, c.enough)
		}
	}
}
