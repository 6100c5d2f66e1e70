import { type ReactElement, useEffect, useState } from 'react';
import { type PlainKey, t } from '../../messages';
import { RetryButton } from '../../ui/RetryButton';
import type { MediaRoute } from './mediaRoute';
import { serverLatency } from './serverLatency';

/** Above this latency people begin to interrupt each other. */
const slowMs = 400;

const routeKeys = {
  udp: 'check.route.udp',
  tcp: 'check.route.tcp',
  none: 'check.route.none',
  unknown: 'check.route.unknown',
  busy: 'check.route.busy',
} as const satisfies Record<MediaRoute, PlainKey>;

const inRoomRouteKeys = { ...routeKeys, udp: 'check.inRoom.udp', tcp: 'check.inRoom.tcp' } as const satisfies Record<MediaRoute, PlainKey>;

interface Props {
  findRoute: () => Promise<MediaRoute>;
  /** The visitor is in the room, so that the route is that of their own connection. */
  connected: boolean;
}

/** Shows whether the server responds and which route audio and video take. */
export function ConnectionPart({ findRoute, connected }: Props): ReactElement {
  const [run, setRun] = useState(0);
  const [latency, setLatency] = useState<number | null | undefined>();
  const [route, setRoute] = useState<MediaRoute | undefined>();
  useEffect(() => {
    let stopped = false;
    setLatency(undefined);
    setRoute(undefined);
    void serverLatency().then((ms) => !stopped && setLatency(ms));
    void findRoute().then((found) => !stopped && setRoute(found));
    return () => {
      stopped = true;
    };
    // Only `run`, because findRoute is a new function on every render.
  }, [run]);
  return (
    <section className="sheet-part">
      <h3>{t('check.connection')}</h3>
      <div role="status" className="sheet-part">
        <p>{latency === undefined ? t('check.server.asking') : serverText(latency)}</p>
        <p>{t(route === undefined ? 'check.route.trying' : (connected ? inRoomRouteKeys : routeKeys)[route])}</p>
      </div>
      <div>
        <RetryButton busy={latency === undefined || route === undefined} label={t('check.again')} onPress={() => setRun(run + 1)} />
      </div>
    </section>
  );
}

function serverText(ms: number | null): string {
  if (ms === null) return t('check.server.unreachable');
  return t(ms > slowMs ? 'check.server.slow' : 'check.server.responds', { ms: Math.max(1, Math.round(ms)) });
}
