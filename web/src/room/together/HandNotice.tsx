import type { ReactElement } from 'react';
import { count, t } from '../../messages';
import { Icon } from '../../ui/Icon';
import type { Acts } from '../../visit/acts';
import type { Person } from '../person';
import { useAct } from '../useAct';

interface Props {
  acts: Acts;
  hands: readonly Person[];
  /** Is told of the hands of others. */
  runs: boolean;
  onPeople: () => void;
}

/** On the stage: that one's own hand is up, and for hosts whose turn it is. */
export function HandNotice({ acts, hands, runs, onPeople }: Props): ReactElement | null {
  const { busy, run } = useAct();
  const others = hands.filter(({ you }) => !you);
  const [first] = others;
  const own = hands.length > others.length;
  if (!own && !(runs && first)) return null;
  return (
    <div className="hand-notices">
      {runs && first && (
        <button type="button" className="secondary hand-notice" onClick={onPeople}>
          <Icon name="hand" />
          <span className="hand-first">{others.length > 1 ? count('hand.many', others.length) : t('hand.one', { name: first.name })}</span>
        </button>
      )}
      {own && (
        <p className="hand-notice">
          <Icon name="hand" />
          <span>{t('hand.yours')}</span>
          <button type="button" className="secondary" aria-disabled={busy || undefined} onClick={() => void run(() => acts.lowerHand())}>
            {t('hand.lower')}
          </button>
        </p>
      )}
    </div>
  );
}
