import { Track } from 'livekit-client';
import type { ReactElement } from 'react';
import { useStore } from '../../lib/useStore';
import { t } from '../../messages';
import type { Person } from '../person';
import { pins, screenOf, togglePin } from './pins';
import { Volume } from './Volume';

/** How the visitor sees and hears somebody; it changes nothing for anybody else. */
export function PersonView({ person, video }: { person: Person; video: boolean }): ReactElement {
  const { identity, participant } = person;
  const pinned = useStore(pins).includes(identity);
  return (
    <>
      {video && (
        <div className="tool-row">
          <button type="button" className="secondary" onClick={() => togglePin(identity)}>
            {t(pinned ? 'pin.undo' : 'pin.do')}
          </button>
        </div>
      )}
      <Volume of={identity} label={t('volume.label')} />
      {participant.getTrackPublication(Track.Source.ScreenShareAudio) && (
        <Volume of={screenOf(identity)} label={t('volume.screen')} />
      )}
    </>
  );
}
