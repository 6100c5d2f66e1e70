import type { ReactElement } from 'react';
import { t } from '../messages';
import { Notice } from '../ui/Notice';

export function WrongLink({ title, onGuest }: { title: string; onGuest: () => void }): ReactElement {
  return (
    <Notice
      room={title}
      title={t('refused.wrongLink.title')}
      actions={
        <button type="button" className="primary" onClick={onGuest}>
          {t('refused.wrongLink.guest')}
        </button>
      }
    >
      <p>{t('refused.wrongLink.text')}</p>
    </Notice>
  );
}
