/** A way on which media reaches the server: directly, or over relays at the TURN servers of a scheme. */
export type Way = 'udp' | 'tcp' | 'turn:' | 'turns:';

/**
 * Makes the connections that the page opens later use one way only: a scheme of TURN servers, or the
 * protocol of the server's own addresses. It is a script because Firefox is driven by WebDriver: its argument is the way.
 */
export const useOnly = `
  const way = arguments[0];
  const isRelay = way.startsWith('turn');
  const isOther = (candidate) => !isRelay && !new RegExp(' ' + way + ' ', 'i').test(candidate);
  const Original = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Original {
    constructor(configuration = {}) {
      const servers = (configuration.iceServers ?? [])
        .map((server) => ({ ...server, urls: [server.urls].flat().filter((url) => isRelay && url.startsWith(way)) }))
        .filter(({ urls }) => urls.length > 0);
      super({ ...configuration, iceServers: servers, iceTransportPolicy: isRelay ? 'relay' : 'all' });
      (window.connections ??= []).push(this);
    }
    async addIceCandidate(candidate) {
      if (candidate?.candidate && isOther(candidate.candidate)) return;
      return super.addIceCandidate(candidate);
    }
    async setRemoteDescription(description) {
      const sdp = description.sdp.split('\\r\\n').filter((line) => !line.startsWith('a=candidate:') || !isOther(line)).join('\\r\\n');
      return super.setRemoteDescription({ type: description.type, sdp });
    }
  };`;
