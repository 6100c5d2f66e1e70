import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { isSeen, type Desk } from '../../media/desk';
import { t } from '../../messages';
import { savesData } from './choices';

/** That the visitor's own connection is weak, and what helps most of what is left to do. */
export function WeakBanner({ desk }: { desk: Desk }): ReactElement {
  const saves = useStore(savesData);
  const camera = isSeen(desk);
  if (!desk.video || (saves && !camera)) return <p className="banner">{t('room.weak')}</p>;
  return (
    <div className="banner">
      <p>{t(saves ? 'room.weak.camera' : camera ? 'room.weak.both' : 'room.weak.save')}</p>
      {!saves && (
        <button type="button" className="primary" onClick={() => savesData.choose(true)}>
          {t('saving.do')}
        </button>
      )}
    </div>
  );
}
