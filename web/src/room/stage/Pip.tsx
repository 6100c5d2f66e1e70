import type { Room } from 'livekit-client';
import { useEffect, useRef, type ReactElement } from 'react';
import { createPortal } from 'react-dom';
import { initials } from '../../lib/initials';
import { useStore } from '../../lib/useStore';
import { isHeard, type Desk } from '../../media/desk';
import type { Studio } from '../../media/studio';
import { t } from '../../messages';
import { Badges } from '../Badges';
import { Control } from '../Control';
import type { Person } from '../person';
import { RemotePicture } from '../RemotePicture';
import type { Entry } from '../roll';
import type { TrackReference } from '../useRemoteTracks';
import { useVoice } from '../useVoice';
import { enlarged } from './enlarged';
import { pins, screenOf } from './pins';
import { pip } from './pip';
import { useFloor } from './useFloor';
import { useSeen } from './useSeen';

interface Props {
  room: Room;
  people: Entry<Person>[];
  desk: Desk;
  studio: Studio;
  /** Whether the visitor may speak. */
  talks: boolean;
  onLeave: () => void;
}

/** The room in a window of its own, while the visitor works in another. */
export function Pip(props: Props): ReactElement | null {
  const window = useStore(pip);
  // It belongs to the room and goes with it.
  useEffect(() => () => pip.get()?.close(), []);
  return window && createPortal(<Inside {...props} />, window.document.body);
}

function Inside({ room, people, desk, studio, talks, onLeave }: Props): ReactElement {
  const { cameras, screens } = useSeen(room);
  const shared = new Map(screens.map((screen) => [screenOf(screen.participant.identity), screen]));
  const speaker = useFloor(room, people, true);
  const [key] = enlarged({
    present: new Set([...people.map(({ person }) => person.identity), ...shared.keys()]),
    pinned: useStore(pins),
    screens: [...shared.keys()],
    speakerView: true,
    speaker,
  });
  const screen = key === undefined ? undefined : shared.get(key);
  const entry = people.find(({ person }) => person.identity === (key ?? room.localParticipant.identity));
  const speaking = isHeard(desk);
  return (
    <main className="pip">
      {screen ? (
        <div className="tile share">
          <RemotePicture of={screen} whole />
          <p className="tile-name">
            <span className="tile-who">{t('room.screenOf', { name: screen.participant.name || screen.participant.identity })}</span>
          </p>
        </div>
      ) : (
        entry && <Somebody room={room} entry={entry} camera={cameras.get(entry.person.identity)} />
      )}
      <nav className="controls" aria-label={t('room.controls')}>
        {talks && (
          <Control
            icon={speaking ? 'mic' : 'micOff'}
            label={t(speaking ? 'control.mute' : 'control.unmute')}
            look={speaking ? 'plain' : 'off'}
            onPress={() => void studio.setMicOn(!speaking)}
          />
        )}
        <Control icon="leave" label={t('control.leave')} look="danger" onPress={onLeave} />
      </nav>
    </main>
  );
}

function Somebody({ room, entry: { person, goneAt }, camera }: { room: Room; entry: Entry<Person>; camera: TrackReference | undefined }): ReactElement {
  const tile = useRef<HTMLDivElement>(null);
  useVoice(room, person.participant, tile);
  const away = goneAt !== null;
  return (
    <div ref={tile} className="tile" data-away={away || undefined}>
      {camera && !away ? (
        <RemotePicture of={camera} />
      ) : (
        <span className="initials" aria-hidden="true">
          {initials(person.name)}
        </span>
      )}
      <p className="tile-name">
        <bdi className="tile-who">{person.name}</bdi>
        <Badges person={person} away={away} />
      </p>
    </div>
  );
}
