import type { ReactElement } from 'react';
import { t } from '../messages';
import { Notice } from '../ui/Notice';
import type { Visit } from '../visit/state';

interface Props {
  alreadyJoined: Extract<Visit, { at: 'alreadyJoined' }>;
  onHere: () => void;
  onStay: () => void;
  /** To be another person in this tab; null where the link says who it is. */
  onOther: (() => void) | null;
}

/** The visitor is in the room already: here or there, as they like. */
export function AlreadyJoined({ alreadyJoined: { preview, other, staying }, onHere, onStay, onOther }: Props): ReactElement {
  const tab = other === 'tab';
  const stay = (): void => {
    // Browsers close only tabs that a page has opened; the words are for all others.
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
