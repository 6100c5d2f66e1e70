import type { ReactElement } from 'react';
import type { Fault, Kind } from '../../media/faults';
import { t, type PlainKey } from '../../messages';
import { wayOut, type WayOut } from './wayOut';

const words = {
  chrome: 'fault.way.chrome',
  android: 'fault.way.android',
  firefox: 'fault.way.firefox',
  safari: 'fault.way.safari',
  ios: 'fault.way.ios',
  iosApp: 'fault.way.iosApp',
  app: 'fault.way.app',
  frame: 'fault.way.frame',
  other: 'fault.way.other',
} as const satisfies Record<WayOut, PlainKey>;

/** Where to allow a device that is blocked, in this browser. */
export function WayOutText({ kind, fault }: { kind: Kind; fault: Fault }): ReactElement | null {
  if (fault !== 'blocked' && fault !== 'app') return null;
  const way = fault === 'app' ? 'app' : wayOut(kind === 'mic' ? 'microphone' : 'camera');
  return (
    <>
      <p>{t(words[way])}</p>
      {way === 'frame' && (
        <a href={location.href} target="_blank" rel="noreferrer">
          {t('fault.frame.open')}
        </a>
      )}
    </>
  );
}
