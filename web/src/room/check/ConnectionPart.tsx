import { useEffect, useState, type ReactElement } from 'react';
import { t, type PlainKey } from '../../messages';
import { AgainButton } from '../../ui/AgainButton';
import { answerTime } from './server';
import type { Way } from './way';

/** Above this people begin to talk into each other's words. */
const slow = 400;

const outside = {
  udp: 'check.way.udp',
  tcp: 'check.way.tcp',
  none: 'check.way.none',
  unknown: 'check.way.unknown',
  busy: 'check.way.busy',
} as const satisfies Record<Way, PlainKey>;

const inside = { ...outside, udp: 'check.in.udp', tcp: 'check.in.tcp' } as const satisfies Record<Way, PlainKey>;

interface Props {
  findWay: () => Promise<Way>;
  /** The visitor is in the room: it is about their own connection. */
  connected: boolean;
}

/** Whether the server is reached, and how sound and pictures get through, in sentences. */
export function ConnectionPart({ findWay, connected }: Props): ReactElement {
  const [round, setRound] = useState(0);
  const [answered, setAnswered] = useState<number | null | undefined>();
  const [way, setWay] = useState<Way | undefined>();
  useEffect(() => {
    let over = false;
    setAnswered(undefined);
    setWay(undefined);
    void answerTime().then((ms) => !over && setAnswered(ms));
    void findWay().then((found) => !over && setWay(found));
    return () => {
      over = true;
    };
    // Once for each press: who shows this hands over another function each time.
  }, [round]);
  return (
    <section className="sheet-part">
      <h3>{t('check.connection')}</h3>
      <div role="status" className="sheet-part">
        <p>{answered === undefined ? t('check.server.asking') : serverWords(answered)}</p>
        <p>{t(way === undefined ? 'check.way.trying' : (connected ? inside : outside)[way])}</p>
      </div>
      <div>
        <AgainButton
          busy={answered === undefined || way === undefined}
          label={t('check.again')}
          onPress={() => setRound(round + 1)}
        />
      </div>
    </section>
  );
}

function serverWords(ms: number | null): string {
  if (ms === null) return t('check.server.away');
  return t(ms > slow ? 'check.server.slow' : 'check.server.answers', { ms: Math.max(1, Math.round(ms)) });
}
