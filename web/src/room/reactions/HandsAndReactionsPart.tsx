import type { ReactElement } from 'react';
import { t } from '../../messages';
import { Icon } from '../../ui/Icon';
import type { RoomActions } from '../../visit/roomActions';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeeting } from '../meeting';
import { ReactionIcon } from './ReactionIcon';
import { reactionName } from './reactionName';
import { reactionKinds } from './reactions';

/** The raised hand and the reactions. The sheet closes after one press. */
export function HandsAndReactionsPart({ onDone }: { onDone: () => void }): ReactElement {
  const { actions, hands } = useMeeting();
  const handRaised = hands.some(({ you }) => you);
  const { error, run } = useAction();
  const runAndClose = async (call: () => ReturnType<RoomActions['raiseHand']>): Promise<void> => {
    if (await run(call)) onDone();
  };
  return (
    <section className="sheet-part" aria-label={t('react.title')}>
      <div className="reaction-row">
        {reactionKinds.map((kind) => (
          <button
            key={kind}
            type="button"
            className="secondary reaction-button"
            aria-label={reactionName(kind)}
            onClick={() => void runAndClose(() => actions.react(kind))}
          >
            <ReactionIcon reaction={kind} />
          </button>
        ))}
      </div>
      <button
        type="button"
        className="secondary wide"
        onClick={() => void runAndClose(() => (handRaised ? actions.lowerHand() : actions.raiseHand()))}
      >
        <Icon name="hand" />
        {t(handRaised ? 'hand.lower' : 'hand.raise')}
      </button>
      <ActionError text={error} />
    </section>
  );
}
