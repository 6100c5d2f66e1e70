import { Track } from 'livekit-client';
import type { ReactElement } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { pins, screenKey, togglePin } from '../stage/pins';
import type { Person } from './person';
import { VolumeSlider } from './VolumeSlider';

/** How the visitor sees and hears a person. It changes nothing for others. */
export function PersonViewOptions({ person, video }: { person: Person; video: boolean }): ReactElement {
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
      <VolumeSlider of={identity} label={t('volume.label')} />
      {participant.getTrackPublication(Track.Source.ScreenShareAudio) && (
        <VolumeSlider of={screenKey(identity)} label={t('volume.screen')} />
      )}
    </>
  );
}
