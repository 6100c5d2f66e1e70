package media

import (
	"errors"
	"net"
	"reflect"
	"time"

	"github.com/livekit/livekit-server/pkg/rtc"
	"github.com/livekit/livekit-server/pkg/service"
	"github.com/livekit/livekit-server/pkg/sfu/buffer"
	"github.com/livekit/protocol/logger"
	"github.com/livekit/protocol/logger/pionlogger"
	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"
)

const (
	// firstPacketTimeout is the time in which a new TCP connection has to send the first
	// packet of ICE.
	firstPacketTimeout = 5 * time.Second
	// unknownUserTimeout is the time for which a TCP connection of a user name that no
	// participant has yet stays open.
	unknownUserTimeout = 10 * time.Second
	// tcpQueuePackets and tcpQueueBytes bound what waits for the media engine and for the
	// client on one TCP connection. LiveKit uses the same sizes.
	tcpQueuePackets, tcpQueueBytes = 50, 4 << 20
)

// limitTransport makes all media pass through the limits, and receives media on the TCP listener
// if it is not nil. It returns the function that closes the listener.
//
// It uses reflection, because LiveKit opens the sockets itself and copies their settings for each
// participant from a private field.
func limitTransport(rooms *service.RoomManager, limits *packetLimits, tcp net.Listener) (closeTCP func(), err error) {
	conf, err := webRTCConfig(rooms)
	if err != nil {
		return nil, err
	}
	if _, exists := reflect.TypeFor[buffer.Factory]().FieldByName("rtcpReaders"); !exists {
		return nil, errors.New("media: buffer.Factory has no field rtcpReaders")
	}
	conf.SettingEngine.SetICEUDPMux(&limitedUDPMux{UDPMux: conf.UDPMux, limits: limits})
	if tcp == nil {
		return func() {}, nil
	}
	mux := ice.NewTCPMuxDefault(ice.TCPMuxParams{
		Listener:                     tcp,
		Logger:                       pionlogger.NewLoggerFactory(logger.GetLogger()).NewLogger("tcp_mux"),
		ReadBufferSize:               tcpQueuePackets,
		WriteBufferSize:              tcpQueueBytes,
		FirstStunBindTimeout:         firstPacketTimeout,
		AliveDurationForConnFromStun: unknownUserTimeout,
	})
	conf.SettingEngine.SetICETCPMux(&limitedTCPMux{TCPMuxDefault: mux, limits: limits})
	conf.SettingEngine.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6,
		webrtc.NetworkTypeTCP4, webrtc.NetworkTypeTCP6})
	return func() {
		_ = tcp.Close()
		go func() { _ = mux.Close() }() // it waits for connections that have sent nothing yet
	}, nil
}

// webRTCConfig returns the settings that LiveKit copies for each participant. It returns an error
// if their field differs from that of LiveKit 1.13.5.
func webRTCConfig(rooms *service.RoomManager) (*rtc.WebRTCConfig, error) {
	field := reflect.ValueOf(rooms).Elem().FieldByName("rtcConfig")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*rtc.WebRTCConfig]() {
		return nil, errors.New("media: service.RoomManager has no field rtcConfig of the expected type")
	}
	return (*rtc.WebRTCConfig)(field.UnsafePointer()), nil
}
