import type { ReactElement } from 'react';
import { t } from '../messages';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';

interface Props {
  alreadyJoined: Extract<Visit, { at: 'alreadyJoined' }>;
  onJoinHere: () => void;
  onStay: () => void;
  /** Joins as another person in this tab; null when the link identifies the person. */
  onJoinAsOther: (() => void) | null;
}

/** The visitor is already in the room in another tab or device and chooses where to be. */
export function AlreadyJoined({ alreadyJoined: { preview, other, staying }, onJoinHere, onStay, onJoinAsOther }: Props): ReactElement {
  const inTab = other === 'tab';
  const stayThere = (): void => {
    // Browsers close only tabs that a script has opened, so that the text has to say it.
    window.close();
    onStay();
  };
  return (
    <Notice
      room={preview.title}
      title={t(staying ? 'alreadyJoined.stillThere' : 'alreadyJoined.title')}
      actions={
        <>
          <button type="button" className={staying ? 'secondary' : 'primary'} onClick={onJoinHere}>
            {t('alreadyJoined.joinHere')}
          </button>
          {!staying && (
            <button type="button" className="secondary" onClick={stayThere}>
              {t('alreadyJoined.stayThere')}
            </button>
          )}
          {!staying && onJoinAsOther && (
            <button type="button" className="secondary" onClick={onJoinAsOther}>
              {t('alreadyJoined.asOther')}
            </button>
          )}
        </>
      }
    >
      <p>{t(staying ? 'left.close' : inTab ? 'alreadyJoined.tab' : 'alreadyJoined.device')}</p>
    </Notice>
  );
}
