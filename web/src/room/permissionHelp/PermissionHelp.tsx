import type { ReactElement } from 'react';
import type { CaptureKind, Fault } from '../../media/faults';
import { type PlainKey, t } from '../../messages';
import { type BrowserSurface, currentBrowserSurface } from './browserSurface';

const helpKeys = {
  chrome: 'fault.help.chrome',
  android: 'fault.help.android',
  firefox: 'fault.help.firefox',
  safari: 'fault.help.safari',
  ios: 'fault.help.ios',
  iosApp: 'fault.help.iosApp',
  app: 'fault.help.app',
  frame: 'fault.help.frame',
  other: 'fault.help.other',
} as const satisfies Record<BrowserSurface, PlainKey>;

/** Explains where to allow a blocked device in this browser. */
export function PermissionHelp({ kind, fault }: { kind: CaptureKind; fault: Fault }): ReactElement | null {
  if (fault !== 'blocked' && fault !== 'app') return null;
  const surface = fault === 'app' ? 'app' : currentBrowserSurface(kind === 'mic' ? 'microphone' : 'camera');
  return (
    <>
      <p>{t(helpKeys[surface])}</p>
      {surface === 'frame' && (
        <a href={location.href} target="_blank" rel="noreferrer">
          {t('fault.frame.open')}
        </a>
      )}
    </>
  );
}
