import type { ReactElement } from 'react';
import type { Preview } from '../api/client';
import { t } from '../messages';
import { Notice } from '../ui/Notice';

/** The link is unknown or expired. The visitor can join as a guest. */
export function WrongLink({ preview, onGuest }: { preview: Preview; onGuest: () => void }): ReactElement {
  const expired = preview.you.link === 'expired';
  return (
    <Notice
      room={preview.title}
      title={t(expired ? 'refused.expiredLink.title' : 'refused.wrongLink.title')}
      actions={
        <button type="button" className="primary" onClick={onGuest}>
          {t('refused.wrongLink.guest')}
        </button>
      }
    >
      <p>{t(expired ? 'refused.expiredLink.text' : 'refused.wrongLink.text')}</p>
    </Notice>
  );
}
