import type { ReactElement } from 'react';
import { t } from '../messages';

/** What somebody reads whom a host has to let in. */
export function Waiting(): ReactElement {
  return (
    <div className="waiting">
      <h2>{t('waiting.title')}</h2>
      <p>{t('waiting.text')}</p>
    </div>
  );
}
