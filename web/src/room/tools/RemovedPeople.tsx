import { useEffect, useState, type ReactElement } from 'react';
import type { People } from '../../api/client';
import { t } from '../../messages';
import { ActTrouble } from '../ActTrouble';
import { useAct } from '../useAct';
import { firstBeside, type Tools } from './tools';

interface Props {
  tools: Tools;
  /** How many are in: somebody may just have been removed. */
  present: number;
}

/** Those who were removed, and the way to let them in again. */
export function RemovedPeople({ tools: { acts }, present }: Props): ReactElement | null {
  const { busy, trouble, run } = useAct();
  const [removed, setRemoved] = useState<People['removed']>([]);
  useEffect(() => {
    let over = false;
    void acts.people().then((answer) => {
      if (!over && answer.is === 'ok') setRemoved(answer.value.removed);
    });
    return () => {
      over = true;
    };
  }, [acts, present]);
  async function readmit(identity: string, button: Element): Promise<void> {
    if (!(await run(() => acts.readmit(identity)))) return;
    firstBeside(button)?.focus();
    setRemoved((before) => before.filter((person) => person.identity !== identity));
  }
  if (removed.length === 0) return null;
  return (
    <section className="sheet-part">
      <h3>{t('tools.removed')}</h3>
      <ul className="roll">
        {removed.map(({ identity, name }) => (
          <li key={identity} className="roll-row">
            <bdi className="roll-name">{name}</bdi>
            <button type="button" className="secondary" aria-disabled={busy} onClick={(event) => void readmit(identity, event.currentTarget)}>
              {t('tools.readmit')} <span className="sr-only">({name})</span>
            </button>
          </li>
        ))}
      </ul>
      <ActTrouble text={trouble} />
    </section>
  );
}
