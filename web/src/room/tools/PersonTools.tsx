import { useState, type ReactElement } from 'react';
import { t } from '../../messages';
import { ActTrouble } from '../ActTrouble';
import type { Person } from '../person';
import { useAct } from '../useAct';
import { firstBeside, type Tools } from './tools';

interface Props {
  tools: Tools;
  person: Person;
  away: boolean;
}

/** Nobody manages themselves, and a host is managed only by a host. */
export const mayManage = ({ role }: Tools, person: Person): boolean => !person.you && (person.role !== 'host' || role === 'host');

/** The attribute works for the first element of a page only. */
const focusOn = (button: HTMLButtonElement | null): void => button?.focus();

/** What those who run the room do with one person. */
export function PersonTools({ tools: { acts }, person: { identity, name, role, muted }, away }: Props): ReactElement {
  const { busy, trouble, run } = useAct();
  const [removing, setRemoving] = useState(false);
  const [kept, setKept] = useState(false);
  const [asked, setAsked] = useState(false);
  async function remove(button: Element): Promise<void> {
    // Asked for now: by the answer the person may be off the list.
    const next = firstBeside(button);
    if (await run(() => acts.remove(identity))) next?.focus();
  }
  function keep(): void {
    setKept(true);
    setRemoving(false);
  }
  async function ask(): Promise<void> {
    setAsked(false);
    if (await run(() => acts.askToUnmute(identity))) setAsked(true);
  }
  if (removing) {
    return (
      <>
        <p>{t('tools.remove.text', { name })}</p>
        <div className="tool-row">
          {/* What was pressed is gone: the focus goes to what changes nothing. */}
          <button type="button" className="secondary" ref={focusOn} onClick={keep}>
            {t('tools.remove.not')}
          </button>
          <button type="button" className="primary final" aria-disabled={busy} onClick={(event) => void remove(event.currentTarget)}>
            {t('tools.remove.do', { name })}
          </button>
        </div>
        <ActTrouble text={trouble} />
      </>
    );
  }
  return (
    <>
      <div className="tool-row">
        {!away && !muted && (
          <button type="button" className="secondary" aria-disabled={busy} onClick={() => void run(() => acts.mute(identity))}>
            {t('tools.mute')}
          </button>
        )}
        {!away && muted && (
          <button type="button" className="secondary" aria-disabled={busy} onClick={() => void ask()}>
            {t('tools.ask')}
          </button>
        )}
        {role !== 'host' && (
          <button
            type="button"
            className="secondary"
            aria-disabled={busy}
            onClick={() => void run(() => acts.appoint(identity, role === 'guest' ? 'cohost' : 'guest'))}
          >
            {t(role === 'guest' ? 'tools.cohost' : 'tools.guest')}
          </button>
        )}
        <button type="button" className="secondary wrong" ref={kept ? focusOn : null} onClick={() => setRemoving(true)}>
          {t('tools.remove')}
        </button>
      </div>
      <p role="status" className="small quiet">
        {asked && muted && t('tools.asked', { name })}
      </p>
      <ActTrouble text={trouble} />
    </>
  );
}
