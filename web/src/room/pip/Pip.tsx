import { type ReactElement, useEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { isMicActive } from '../../media/mediaState';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { Disc } from '../../ui/Disc';
import { useParticipantConnection } from '../connection/useParticipantConnection';
import { Control } from '../controls/Control';
import { useMeetingMedia, useMeetingPeople, useMeetingView, useMembership } from '../meeting';
import { Badges } from '../people/Badges';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { pins, screenKey } from '../stage/pins';
import { RemoteVideo } from '../stage/RemoteVideo';
import { selectLarge } from '../stage/selectLarge';
import { useActiveSpeaker } from '../stage/useActiveSpeaker';
import { useAudioLevel } from '../stage/useAudioLevel';
import type { TrackReference } from '../stage/useRemoteTracks';
import { useVisibleTracks } from '../stage/useVisibleTracks';
import { allowPip, closePip, pipWindow } from './pipWindow';

/** The room in a picture-in-picture window. */
export function Pip(): ReactElement | null {
  const window = useStore(pipWindow);
  useEffect(allowPip, []);
  return window && createPortal(<PipContent />, window.document.body);
}

function PipContent(): ReactElement {
  const { room } = useMembership();
  const { mediaState, localMedia, allowed } = useMeetingMedia();
  const { people } = useMeetingPeople();
  const { leave } = useMeetingView();
  function leaveFromPip(): void {
    // The page may ask something, which only its tab can show.
    closePip();
    leave();
  }
  const { cameras, screens } = useVisibleTracks(room);
  const shared = new Map(screens.map((screen) => [screenKey(screen.participant.identity), screen]));
  const speaker = useActiveSpeaker(room, people);
  const [key] = selectLarge({
    present: new Set([...people.map(({ person }) => person.identity), ...shared.keys()]),
    pinned: useStore(pins),
    screens: [...shared.keys()],
    speakerView: true,
    speaker,
  });
  const screen = key === undefined ? undefined : shared.get(key);
  const entry = people.find(({ person }) => person.identity === (key ?? room.localParticipant.identity));
  const micActive = isMicActive(mediaState);
  return (
    <main className={mediaState.video ? 'pip video' : 'pip'}>
      {screen ? (
        <div className="tile share">
          <RemoteVideo of={screen} className="picture uncropped" />
          <p className="tile-name">
            <span className="tile-label">{t('room.screenOf', { name: screen.participant.name || screen.participant.identity })}</span>
          </p>
        </div>
      ) : (
        entry && <PipTile entry={entry} camera={cameras.get(entry.person.identity)} />
      )}
      <nav className="controls" aria-label={t('room.controls')}>
        {allowed.mic && (
          <Control
            icon={micActive ? 'mic' : 'micOff'}
            label={t(micActive ? 'control.mute' : 'control.unmute')}
            variant={micActive ? 'plain' : 'off'}
            onPress={() => void localMedia.setMicOn(!micActive)}
          />
        )}
        <Control icon="leave" label={t('control.leave')} variant="danger" onPress={leaveFromPip} />
      </nav>
    </main>
  );
}

function PipTile({
  entry: { person, disconnectedAt },
  camera,
}: {
  entry: RosterEntry<Person>;
  camera: TrackReference | undefined;
}): ReactElement {
  const { room } = useMembership();
  const tile = useRef<HTMLDivElement>(null);
  useAudioLevel(room, person.participant, tile);
  const connectionState = useParticipantConnection(person.participant);
  const away = disconnectedAt !== null;
  return (
    <div ref={tile} className="tile" data-away={away || connectionState === 'lost' || undefined}>
      {camera && !away ? <RemoteVideo of={camera} /> : <Disc identity={person.identity} name={person.name} />}
      <p className="tile-name">
        <bdi className="tile-label">{person.name}</bdi>
        <Badges person={person} away={away} connectionState={connectionState} />
      </p>
    </div>
  );
}
