import type { ReactElement } from 'react';
import { count, t } from '../../messages';
import { Icon } from '../../ui/Icon';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';

/** A notice on the stage: the visitor's own raised hand and, for hosts, the first of the others. */
export function HandNotice(): ReactElement | null {
  const { actions, hands, isModerator, openSheet } = useMeeting();
  const { busy, run } = useAction();
  const others = hands.filter(({ you }) => !you);
  const [first] = others;
  const ownHandRaised = hands.length > others.length;
  if (!ownHandRaised && !(isModerator && first)) return null;
  return (
    <div className="hand-notices">
      {isModerator && first && (
        <button type="button" className="secondary hand-notice" onClick={() => openSheet('people')}>
          <Icon name="hand" />
          <span className="hand-summary">
            {others.length > 1 ? count('hand.many', others.length) : t('hand.one', { name: first.name })}
          </span>
        </button>
      )}
      {ownHandRaised && (
        <button
          type="button"
          className="secondary hand-notice"
          aria-disabled={busy || undefined}
          onClick={() => void run(() => actions.lowerHand())}
        >
          <Icon name="hand" />
          {t('hand.yours')}
        </button>
      )}
    </div>
  );
}
