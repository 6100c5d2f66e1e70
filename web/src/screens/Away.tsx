import type { ReactElement } from 'react';
import { span } from '../lib/span';
import { t } from '../messages';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';
import { Onward } from './Onward';
import { TroubleText } from './TroubleText';

interface Props {
  away: Extract<Visit, { at: 'away' }>;
  onBack: () => void;
}

/** Out of the room, with one way back. */
export function Away({ away, onBack }: Props): ReactElement {
  const left = away.why === 'left';
  const onward = away.seat.logout_url;
  const coming = away.arrival !== null;
  return (
    <Notice
      room={away.seat.title}
      title={t(left ? 'left.title' : 'elsewhere.title')}
      actions={
        <button type="button" className="primary" aria-disabled={coming} onClick={coming ? undefined : onBack}>
          {t(coming ? 'left.coming' : left ? 'left.back' : 'elsewhere.back')}
        </button>
      }
    >
      {left ? <p>{t('span.that', { span: span(away.stayMs) })}</p> : <p>{t('elsewhere.text')}</p>}
      {left && !away.trouble && !onward && <p className="quiet">{t('left.close')}</p>}
      {left && onward && <Onward url={onward} held={coming || away.trouble !== null} />}
      <TroubleText trouble={away.trouble} />
    </Notice>
  );
}
