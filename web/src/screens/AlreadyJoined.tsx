import type { ReactElement } from 'react';
import { t } from '../messages';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';

interface Props {
  alreadyJoined: Extract<Visit, { at: 'alreadyJoined' }>;
  onHere: () => void;
  onStay: () => void;
  /** Joins as another person in this tab; null when the link identifies the person. */
  onOther: (() => void) | null;
}

/** The visitor is already in the room in another tab or device and chooses where to be. */
export function AlreadyJoined({ alreadyJoined: { preview, other, staying }, onHere, onStay, onOther }: Props): ReactElement {
  const tab = other === 'tab';
  const stay = (): void => {
    // Browsers close only tabs that a script has opened, so that the text has to say it.
    window.close();
    onStay();
  };
  return (
    <Notice
      room={preview.title}
      title={t(staying ? 'twice.stays' : 'twice.title')}
      actions={
        <>
          <button type="button" className={staying ? 'secondary' : 'primary'} onClick={onHere}>
            {t('twice.here')}
          </button>
          {!staying && (
            <button type="button" className="secondary" onClick={stay}>
              {t('twice.stay')}
            </button>
          )}
          {!staying && onOther && (
            <button type="button" className="secondary" onClick={onOther}>
              {t('twice.other')}
            </button>
          )}
        </>
      }
    >
      <p>{t(staying ? 'left.close' : tab ? 'twice.tab' : 'twice.device')}</p>
    </Notice>
  );
}
