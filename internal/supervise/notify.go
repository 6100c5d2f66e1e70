package supervise

import "github.com/coreos/go-systemd/v22/daemon" // the protocol of sd_notify, as systemd's authors wrote it

// notify tells systemd the state of this process, if systemd has started it with Type=notify (sd_notify(3)).
// A failure changes nothing here: systemd then stops this process after its time limit, and says so.
func notify(state string) { _, _ = daemon.SdNotify(false, state) }
