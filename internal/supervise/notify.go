package supervise

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon" // the protocol of sd_notify, as systemd's authors wrote it
)

// killMargin is how much longer than the time of a stop the service manager waits for the end of this process.
const killMargin = 5 * time.Second

// notify tells systemd the state of this process, if systemd has started it with Type=notify (sd_notify(3)).
// A failure changes nothing here: systemd then stops this process after its time limit, and says so.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }

// notifyStopping tells systemd that this process stops, and how long that may take. systemd then waits for longer than
// TimeoutStopSec if it has to.
func notifyStopping(timeout time.Duration) {
	notify(fmt.Sprintf("%s\nEXTEND_TIMEOUT_USEC=%d", daemon.SdNotifyStopping, (timeout + killMargin).Microseconds()))
}
