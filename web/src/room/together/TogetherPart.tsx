import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import type { Acts } from '../../visit/acts';
import { ActTrouble } from '../ActTrouble';
import { useAct } from '../useAct';
import { ReactionIcon } from './ReactionIcon';
import { kinds } from './reactions';
import { reactionName } from './words';

interface Props {
  acts: Acts;
  /** One's own hand. */
  up: boolean;
  onDone: () => void;
}

/** The raised hand and the reactions: one press, and the stage is seen again. */
export function TogetherPart({ acts, up, onDone }: Props): ReactElement {
  const { trouble, run } = useAct();
  const ask = async (act: () => ReturnType<Acts['raiseHand']>): Promise<void> => {
    if (await run(act)) onDone();
  };
  return (
    <section className="sheet-part" aria-label={t('react.title')}>
      <div className="react-row">
        {kinds.map((kind) => (
          <button key={kind} type="button" className="secondary react-kind" aria-label={reactionName(kind)} onClick={() => void ask(() => acts.react(kind))}>
            <ReactionIcon reaction={kind} />
          </button>
        ))}
      </div>
      <button type="button" className="secondary wide" onClick={() => void ask(() => (up ? acts.lowerHand() : acts.raiseHand()))}>
        <Icon name="hand" />
        {t(up ? 'hand.lower' : 'hand.raise')}
      </button>
      <ActTrouble text={trouble} />
    </section>
  );
}
