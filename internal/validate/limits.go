package validate

// The limits of the service. Requests, project settings and plans are checked against
// them, so that none can allow more.
const (
	MaxParticipants  = 1000
	MaxRoomDuration  = 1440 // minutes
	MaxBreakoutRooms = 16
	MaxEmptyTimeout  = 86400 // seconds
	MaxText          = 255   // characters of a name, a title or an id
	MaxURL           = 255   // characters of a page's address
	MaxWebhookURL    = 2048  // characters, and bytes in UTF-8
	MaxRetentionDays = 3650
	DefaultPage      = 50  // items of a page if the request names no limit
	MaxPage          = 100 // items of a page
)
