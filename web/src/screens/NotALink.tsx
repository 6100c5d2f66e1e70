import type { ReactElement } from 'react';
import { t } from '../messages';
import { Notice } from '../ui/Notice';

export function NotALink(): ReactElement {
  return (
    <Notice title={t('notALink.title')}>
      <p>{t('notALink.text')}</p>
    </Notice>
  );
}
