package doctor

import (
	"fmt"

	"parley/internal/metrics"
)

const (
	// minParticipants is how many connections of participants are needed to conclude something from their connections.
	minParticipants = 20
	// maxNotConnectedPercent is how many of them may get no media, for example because they give up.
	maxNotConnectedPercent = 20
)

// FromParticipants returns what follows from the connections of real participants in a period. It reports
// false if there were too few of them. The UDP port is 0 if the server could not open it, which is another finding.
func FromParticipants(c metrics.MediaConnections, udpPort int) (findings []Finding, enough bool) {
	var result Result
	total := c.UDP + c.TCP + c.NotConnected
	if total < minParticipants {
		return nil, false
	}
	if c.NotConnected*100 > total*maxNotConnectedPercent {
		result.add("participants_not_connected", Warning,
			"parley doctor --invite, and run the command that it prints on a machine in another network",
			"Media did not connect in %d of %d connections of participants, who heard and saw nobody.", c.NotConnected, total)
	}
	if c.UDP == 0 && udpPort != 0 {
		result.add("udp_unused", Warning, fmt.Sprintf("Open UDP port %d of the server in its firewall.", udpPort),
			"No media arrives over UDP: %d connections of participants used TCP, with more delay, and %d failed.", c.TCP,
			c.NotConnected)
	}
	return result.Findings, true
}
