import { Room, RoomEvent } from 'livekit-client';
import { expectDataTrackClose } from '../connection/dataTrackChannel';

/** The route of audio and video. `unknown`: it could not be tested; `busy`: too many tests are running. */
export type MediaRoute = 'udp' | 'tcp' | 'none' | 'unknown' | 'busy';

const timeoutMs = 8_000;

/** Connects to the media server for a moment with a token for testing. */
export async function testMediaRoute(token: string): Promise<MediaRoute> {
  return connectForMoment(token, {}, mediaRouteOf);
}

/**
 * Connects to the media server for a moment with a token for testing, and returns what `read` returns while
 * the connection is open. `none`: media did not connect; `unknown`: the server did not respond.
 */
export async function connectForMoment<T>(
  token: string,
  rtcConfig: RTCConfiguration,
  read: (room: Room) => Promise<T>,
): Promise<T | 'none' | 'unknown'> {
  const room = new Room({ singlePeerConnection: true });
  expectDataTrackClose(room);
  let signalConnected = false;
  room.once(RoomEvent.SignalConnected, () => (signalConnected = true));
  try {
    await room.connect(location.origin.replace(/^http/, 'ws'), token, {
      maxRetries: 0,
      websocketTimeout: timeoutMs,
      peerConnectionTimeout: timeoutMs,
      rtcConfig,
    });
    return await read(room);
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

export interface Candidate extends RTCStats {
  address?: string;
  candidateType?: RTCIceCandidateType;
  port?: number;
  protocol?: string;
  /** How the browser reaches its TURN server; only of a relay. */
  relayProtocol?: string;
}

type Report = Pick<RTCStatsReport, 'get' | 'forEach'>;

/** Returns the candidates of the selected pair of a connection; null before there is one. */
export function selectedCandidates(report: Report): { local: Candidate | undefined; remote: Candidate | undefined } | null {
  let pair: Pair | undefined;
  report.forEach((entry: RTCStats) => {
    const chosen = entry.type === 'transport' && (entry as RTCTransportStats).selectedCandidatePairId;
    if (chosen) pair = report.get(chosen) as Pair;
    else if (entry.type === 'candidate-pair' && (entry as Pair).selected) pair = entry as Pair;
  });
  const find = (id: string): Candidate | undefined => report.get(id) as Candidate | undefined;
  return pair ? { local: find(pair.localCandidateId), remote: find(pair.remoteCandidateId) } : null;
}

/**
 * Returns the protocol in which the browser sends to the selected candidate pair, `udp` or `tcp`; null
 * before there is one.
 */
export function protocolOf(report: Report): string | null {
  const local = selectedCandidates(report)?.local;
  const protocol = local?.relayProtocol || local?.protocol;
  return protocol === 'tls' ? 'tcp' : (protocol ?? null);
}
