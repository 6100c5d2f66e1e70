import type { ReactElement } from 'react';
import { type PlainKey, t } from '../messages';
import { type BrowserSurface, currentBrowserSurface } from '../room/permissionHelp/browserSurface';
import { Notice } from '../ui/Notice';

const helpKeys = {
  chrome: 'unsupported.other',
  android: 'unsupported.android',
  firefox: 'unsupported.firefox',
  safari: 'unsupported.other',
  ios: 'unsupported.ios',
  iosApp: 'unsupported.ios',
  app: 'unsupported.app',
  frame: 'unsupported.other',
  other: 'unsupported.other',
} as const satisfies Record<BrowserSurface, PlainKey>;

/** This browser has no WebRTC, so that the visitor cannot join with it. */
export function Unsupported({ title }: { title: string }): ReactElement {
  return (
    <Notice room={title} title={t('unsupported.title')}>
      <p>{t(helpKeys[currentBrowserSurface('microphone')])}</p>
    </Notice>
  );
}
