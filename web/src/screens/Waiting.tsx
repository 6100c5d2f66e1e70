import type { ReactElement } from 'react';
import { t } from '../messages';

/** Shown to a visitor who has to be admitted by a host. */
export function Waiting({ hostPresent }: { hostPresent: boolean }): ReactElement {
  return (
    <div className="waiting">
      <h2>{t('waiting.title')}</h2>
      <p>{t(hostPresent ? 'waiting.text' : 'waiting.noHost')}</p>
    </div>
  );
}
