import type { ReactElement } from 'react';
import { span } from '../lib/span';
import { t } from '../messages';
import { AgainButton } from '../ui/AgainButton';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';

interface Props {
  removed: Extract<Visit, { at: 'removed' }>;
  busy: boolean;
  onAgain: () => void;
}

/** A host ended the visit; a host may let the visitor in again. */
export function Removed({ removed: { title, stayMs, polls }, busy, onAgain }: Props): ReactElement {
  return (
    <Notice room={title} title={t('removed.title')} actions={<AgainButton busy={busy} label={t('refused.again')} onPress={onAgain} />}>
      <p>{t('span.that', { span: span(stayMs) })}</p>
      <p>{t('removed.text')}</p>
      <p role="status">{t(polls > 0 ? 'removed.still' : 'removed.again')}</p>
    </Notice>
  );
}
