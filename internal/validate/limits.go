package validate

// The limits of the service for every room. Requests, project settings and plans
// are checked against them, so that none can allow more.
const (
	MaxParticipants  = 1000
	MaxRoomDuration  = 1440 // minutes
	MaxBreakoutRooms = 16
	MaxEmptyTimeout  = 86400 // seconds
	MaxWebhookURL    = 2048  // characters
)
