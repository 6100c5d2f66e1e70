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

const texts = {
  left: { title: 'left.title', text: 'left.close', back: 'left.back' },
  elsewhere: { title: 'elsewhere.title', text: 'elsewhere.text', back: 'elsewhere.back' },
  limited: { title: 'limited.title', text: 'limited.text', back: 'limited.back' },
} as const;

/** Out of the room, with one way back. */
export function Away({ away, onBack }: Props): ReactElement {
  const { why } = away;
  const left = why === 'left';
  const onward = away.seat.logout_url;
  const coming = away.arrival !== null;
  return (
    <Notice
      room={away.seat.title}
      title={t(texts[why].title)}
      actions={
        <button type="button" className="primary" aria-disabled={coming} onClick={coming ? undefined : onBack}>
          {t(coming ? 'left.coming' : texts[why].back)}
        </button>
      }
    >
      {left ? <p>{t('span.that', { span: span(away.stayMs) })}</p> : <p>{t(texts[why].text)}</p>}
      {left && !away.trouble && !onward && <p className="quiet">{t(texts.left.text)}</p>}
      {left && onward && <Onward url={onward} held={coming || away.trouble !== null} />}
      <TroubleText trouble={away.trouble} />
    </Notice>
  );
}
