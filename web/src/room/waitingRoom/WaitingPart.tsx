import type { ReactElement } from 'react';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useMeetingPeople } from '../meeting';
import { firstButtonNearby } from '../moderation/firstButtonNearby';

/** The waiting people, in the list of people. */
export function WaitingPart(): ReactElement | null {
  const { waiting, busy, error, admit, deny } = useMeetingPeople().waitingRoom;
  if (waiting.length === 0) return null;
  async function handle(ask: Promise<boolean>, button: Element): Promise<void> {
    const next = firstButtonNearby(button);
    if (await ask) next?.focus();
  }
  return (
    <section className="sheet-part">
      <div className="assign-head">
        <h3 id="waiting">{t('waitingRoom.title')}</h3>
        {waiting.length > 1 && (
          <button type="button" className="secondary" aria-disabled={busy} onClick={(event) => void handle(admit(), event.currentTarget)}>
            {t('waitingRoom.admitAll')}
          </button>
        )}
      </div>
      <ul className="roster" aria-labelledby="waiting">
        {waiting.map(({ identity, name }) => (
          <li key={identity} className="roster-row">
            <bdi className="roster-name">{name}</bdi>
            <button
              type="button"
              className="primary"
              aria-disabled={busy}
              onClick={(event) => void handle(admit(identity), event.currentTarget)}
            >
              {t('waitingRoom.admit')} <span className="sr-only">({name})</span>
            </button>
            <button
              type="button"
              className="secondary"
              aria-disabled={busy}
              onClick={(event) => void handle(deny(identity), event.currentTarget)}
            >
              {t('waitingRoom.deny')} <span className="sr-only">({name})</span>
            </button>
          </li>
        ))}
      </ul>
      <ActionError text={error} />
    </section>
  );
}
