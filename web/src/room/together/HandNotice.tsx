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
        <button type="button" className="secondary hand-notice" aria-disabled={busy || undefined} onClick={() => void run(() => acts.lowerHand())}>
          <Icon name="hand" />
          {t('hand.yours')}
        </button>
      )}
    </div>
  );
}
