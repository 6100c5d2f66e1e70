import { type ReactElement, useState } from 'react';
import type { Role } from '../../api/client';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMembership } from '../meeting';
import type { Person } from '../people/person';
import { firstButtonNearby } from './firstButtonNearby';

interface Props {
  person: Person;
  away: boolean;
}

/** Visitors cannot moderate themselves, and only a host can moderate a host. */
export const canModerate = (role: Role, person: Person): boolean => !person.you && (person.role !== 'host' || role === 'host');

/** The autofocus attribute works only when a page is loaded. */
const focusOn = (button: HTMLButtonElement | null): void => button?.focus();

/** The moderation of one person. */
export function PersonModeration({ person: { identity, name, role, muted }, away }: Props): ReactElement {
  const { actions } = useMembership();
  const { busy, error, run } = useAction();
  const [removing, setRemoving] = useState(false);
  const [removalCanceled, setRemovalCanceled] = useState(false);
  const [unmuteRequested, setUnmuteRequested] = useState(false);
  async function remove(button: Element): Promise<void> {
    // Looked up first, because the row may be gone when the response arrives.
    const next = firstButtonNearby(button);
    if (await run(() => actions.remove(identity))) next?.focus();
  }
  function cancelRemoval(): void {
    setRemovalCanceled(true);
    setRemoving(false);
  }
  async function askToUnmute(): Promise<void> {
    setUnmuteRequested(false);
    if (await run(() => actions.askToUnmute(identity))) setUnmuteRequested(true);
  }
  if (removing) {
    return (
      <>
        <p>{t('moderation.remove.text', { name })}</p>
        <div className="tool-row">
          {/* The pressed button is gone, so that the harmless button gets the focus. */}
          <button type="button" className="secondary" ref={focusOn} onClick={cancelRemoval}>
            {t('moderation.remove.cancel')}
          </button>
          <button type="button" className="primary final" aria-disabled={busy} onClick={(event) => void remove(event.currentTarget)}>
            {t('moderation.remove.confirm', { name })}
          </button>
        </div>
        <ActionError text={error} />
      </>
    );
  }
  return (
    <>
      <div className="tool-row">
        {!away && !muted && (
          <button type="button" className="secondary" aria-disabled={busy} onClick={() => void run(() => actions.mute(identity))}>
            {t('moderation.mute')}
          </button>
        )}
        {!away && muted && (
          <button type="button" className="secondary" aria-disabled={busy} onClick={() => void askToUnmute()}>
            {t('moderation.askToUnmute')}
          </button>
        )}
        {role !== 'host' && (
          <button
            type="button"
            className="secondary"
            aria-disabled={busy}
            onClick={() => void run(() => actions.setRole(identity, role === 'guest' ? 'cohost' : 'guest'))}
          >
            {t(role === 'guest' ? 'moderation.cohost' : 'moderation.guest')}
          </button>
        )}
        <button type="button" className="secondary wrong" ref={removalCanceled ? focusOn : null} onClick={() => setRemoving(true)}>
          {t('moderation.remove')}
        </button>
      </div>
      <p role="status" className="small quiet">
        {unmuteRequested && muted && t('moderation.asked', { name })}
      </p>
      <ActionError text={error} />
    </>
  );
}
