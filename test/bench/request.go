package main

import (
	"strconv"
	"time"

	"parley.example/client/sign"
)

// createRoom returns a function that appends a signed request for a quick audio room. Each
// request has a different body.
func createRoom(h serverInfo) func([]byte, uint64) []byte {
	before := `{"project_id":"` + h.ProjectID + `","name":"Amina","max_participants":10,"empty_timeout":300,` +
		`"metadata":{"room_title":"Standup `
	const after = `","welcome_message":"Good morning, and welcome to everybody"}}`
	return func(to []byte, n uint64) []byte {
		body := make([]byte, 0, 512)
		body = append(body, before...)
		body = strconv.AppendUint(body, n, 10)
		body = append(body, after...)
		to = append(to, "POST /api/v3/rooms/create_quick_audio_room HTTP/1.1\r\nHost: "...)
		to = append(to, h.Address...)
		to = append(to, "\r\nContent-Type: application/json\r\nhash-signature: "...)
		to = append(to, sign.Legacy(h.APIKey, body)...)
		return appendBody(to, body)
	}
}

// plainGet returns a function that appends a GET request without a signature.
func plainGet(target string) func([]byte, uint64) []byte {
	request := "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	return func(to []byte, _ uint64) []byte { return append(to, request...) }
}

// signedRequest returns a function that appends a request with a signature of version 5,
// which the companion routes use too.
func signedRequest(h serverInfo, method, target string, body []byte) func([]byte, uint64) []byte {
	return func(to []byte, _ uint64) []byte {
		timestamp := sign.FormatTimestamp(time.Now())
		to = append(to, method+" "+target+" HTTP/1.1\r\nHost: "+h.Address+"\r\napi-key: "+h.APIKey+"\r\ntimestamp: "+
			timestamp+"\r\nhash-signature: "+sign.V5(h.GatewaySecret, method, target, timestamp, "", body)...)
		if body == nil {
			return append(to, "\r\n\r\n"...)
		}
		return appendBody(append(to, "\r\nContent-Type: application/json"...), body)
	}
}

// createSession returns a function that appends a request for LiveKit's CreateRoom, in the
// encoding of LiveKit's clients: message CreateRoomRequest { string name = 1; }.
func createSession(address, token string) func([]byte, uint64) []byte {
	return func(to []byte, n uint64) []byte {
		name := strconv.AppendUint([]byte("room-"), n, 10)
		body := append([]byte{1<<3 | 2, byte(len(name))}, name...)
		to = append(to, "POST /twirp/livekit.RoomService/CreateRoom HTTP/1.1\r\nHost: "...)
		to = append(to, address...)
		to = append(to, "\r\nContent-Type: application/protobuf\r\nAuthorization: Bearer "...)
		to = append(to, token...)
		return appendBody(to, body)
	}
}

func appendBody(to, body []byte) []byte {
	to = append(to, "\r\nContent-Length: "...)
	to = strconv.AppendInt(to, int64(len(body)), 10)
	to = append(to, "\r\n\r\n"...)
	return append(to, body...)
}
