import type { ReactElement } from 'react';
import { span } from '../lib/span';
import { t } from '../messages';
import { AgainButton } from '../ui/AgainButton';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';
import { isTimed } from '../visit/task';
import { Countdown } from './Countdown';
import { Onward } from './Onward';
import { wordsFor } from './refusal';

interface Props {
  refused: Extract<Visit, { at: 'refused' }>;
  busy: boolean;
  onAgain: () => void;
}

/** A no, in words, with the next step. */
export function Refused({ refused, busy, onAgain }: Props): ReactElement {
  const { refusal, stayMs } = refused;
  const { title, text, way } = wordsFor(refusal, stayMs !== null);
  return (
    <Notice
      room={refused.title}
      title={title}
      actions={
        way === 'again' ? (
          <AgainButton busy={busy} label={t('refused.again')} onPress={onAgain} />
        ) : (
          way === 'reload' && (
            <button type="button" className="primary" onClick={() => location.reload()}>
              {t('refused.reload')}
            </button>
          )
        )
      }
    >
      {stayMs !== null && <p>{t('span.that', { span: span(stayMs) })}</p>}
      {text.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {refused.onward && <Onward url={refused.onward} held={false} />}
      {isTimed(refusal) && <Countdown key={refused.polls} ms={refusal.waitMs} />}
    </Notice>
  );
}
