import { type ReactElement, useState } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { actionErrorText } from '../actions/useAction';
import { useMembership } from '../meeting';
import { ReactionIcon } from './ReactionIcon';
import { reactionName } from './reactionName';
import { type Reaction, reactionKinds } from './reactions';

/** The reactions. Each press sends one, also while another is on its way. */
export function ReactionPicker(): ReactElement {
  const { actions } = useMembership();
  const [error, setError] = useState<string | null>(null);
  async function send(reaction: Reaction): Promise<void> {
    setError(actionErrorText(await actions.react(reaction)));
  }
  return (
    <section className="sheet-part" aria-label={t('react.title')}>
      <div className="reaction-row">
        {reactionKinds.map((kind) => (
          <button key={kind} type="button" className="reaction-button" aria-label={reactionName(kind)} onClick={() => void send(kind)}>
            <ReactionIcon reaction={kind} />
          </button>
        ))}
      </div>
      <ActionError text={error} />
    </section>
  );
}
