import { Room, RoomEvent } from 'livekit-client';
import { expectDataTrackClose } from '../connection/dataTrackChannel';

/** The route of audio and video. `unknown`: it could not be tested; `busy`: too many tests are running. */
export type MediaRoute = 'udp' | 'tcp' | 'none' | 'unknown' | 'busy';

const timeoutMs = 8_000;

/** Connects to the media server for a moment with a token for testing. */
export async function testMediaRoute(token: string): Promise<MediaRoute> {
  const room = new Room({ singlePeerConnection: true });
  expectDataTrackClose(room);
  let signalConnected = false;
  room.once(RoomEvent.SignalConnected, () => (signalConnected = true));
  try {
    await room.connect(location.origin.replace(/^http/, 'ws'), token, {
      maxRetries: 0,
      websocketTimeout: timeoutMs,
      peerConnectionTimeout: timeoutMs,
    });
    return await mediaRouteOf(room);
  } catch {
    return signalConnected ? 'none' : 'unknown';
  } finally {
    void room.disconnect();
  }
}

/** Returns the route of a connection. If it has two, the worse one counts. */
export async function mediaRouteOf(room: Room): Promise<MediaRoute> {
  const { publisher, subscriber } = room.engine.pcManager ?? {};
  const reports = await Promise.all([publisher?.getStats(), subscriber?.getStats()]);
  const protocols = reports.map((report) => report && protocolOf(report));
  return protocols.includes('tcp') ? 'tcp' : protocols.includes('udp') ? 'udp' : 'unknown';
}

interface Pair extends RTCIceCandidatePairStats {
  /** Firefox sets this instead of the pair's id in the transport. */
  selected?: boolean;
}

interface Candidate extends RTCStats {
  protocol?: string;
  /** How the browser reaches its TURN server; only of a relay. */
  relayProtocol?: string;
}

/**
 * Returns the protocol in which the browser sends to the selected candidate pair, `udp` or `tcp`; null
 * before there is one.
 */
export function protocolOf(report: Pick<RTCStatsReport, 'get' | 'forEach'>): string | null {
  let pair: Pair | undefined;
  report.forEach((entry: RTCStats) => {
    const chosen = entry.type === 'transport' && (entry as RTCTransportStats).selectedCandidatePairId;
    if (chosen) pair = report.get(chosen) as Pair;
    else if (entry.type === 'candidate-pair' && (entry as Pair).selected) pair = entry as Pair;
  });
  const local = pair && (report.get(pair.localCandidateId) as Candidate | undefined);
  const protocol = local?.relayProtocol || local?.protocol;
  return protocol === 'tls' ? 'tcp' : (protocol ?? null);
}
