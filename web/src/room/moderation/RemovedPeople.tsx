import { type ReactElement, useEffect, useState } from 'react';
import type { People } from '../../api/client';
import { t } from '../../messages';
import { ActionError } from '../actions/ActionError';
import { useAction } from '../actions/useAction';
import { useMeetingPeople, useMembership } from '../meeting';
import { firstButtonNearby } from './firstButtonNearby';

/** The removed people, each with a button to readmit them. */
export function RemovedPeople(): ReactElement | null {
  const { actions } = useMembership();
  const { people } = useMeetingPeople();
  const { busy, error, run } = useAction();
  const [removed, setRemoved] = useState<People['removed']>([]);
  useEffect(() => {
    let stopped = false;
    void actions.people().then((result) => {
      if (!stopped && result.is === 'ok') setRemoved(result.value.removed);
    });
    return () => {
      stopped = true;
    };
    // A changed number of people may mean that a host removed a participant.
  }, [actions, people.length]);
  async function readmit(identity: string, button: Element): Promise<void> {
    if (!(await run(() => actions.readmit(identity)))) return;
    firstButtonNearby(button)?.focus();
    setRemoved((before) => before.filter((person) => person.identity !== identity));
  }
  if (removed.length === 0) return null;
  return (
    <section className="sheet-part">
      <h3>{t('moderation.removed')}</h3>
      <ul className="roster">
        {removed.map(({ identity, name }) => (
          <li key={identity} className="roster-row">
            <bdi className="roster-name">{name}</bdi>
            <button
              type="button"
              className="secondary"
              aria-disabled={busy}
              onClick={(event) => void readmit(identity, event.currentTarget)}
            >
              {t('moderation.readmit')} <span className="sr-only">({name})</span>
            </button>
          </li>
        ))}
      </ul>
      <ActionError text={error} />
    </section>
  );
}
