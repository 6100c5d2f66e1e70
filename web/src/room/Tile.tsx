import type { Room } from 'livekit-client';
import { useRef, type ReactElement } from 'react';
import { initials } from '../lib/initials';
import { t } from '../messages';
import { Picture } from '../ui/Picture';
import { Badges } from './Badges';
import type { Person } from './person';
import { RemotePicture } from './RemotePicture';
import type { Entry } from './roll';
import { PinButton } from './stage/PinButton';
import { styleOf, type Place } from './stage/place';
import { ReactionMark } from './together/ReactionMark';
import type { TrackReference } from './useRemoteTracks';
import { useVoice } from './useVoice';

interface Props extends Place {
  room: Room;
  entry: Entry<Person>;
  camera: TrackReference | null;
  /** Your own picture comes straight from your camera. */
  own: MediaStreamTrack | null;
}

/** Somebody in a video room. */
export function Tile({ room, entry: { person, goneAt }, camera, own, frame, large }: Props): ReactElement {
  const item = useRef<HTMLLIElement>(null);
  useVoice(room, person.participant, item);
  const away = goneAt !== null;
  const picture = own ? (
    <Picture track={own} />
  ) : camera && !away ? (
    <RemotePicture of={camera} />
  ) : null;
  return (
    <li ref={item} className="tile" style={styleOf(frame)} data-away={away || undefined} data-large={large || undefined}>
      {picture ?? (
        <span className="initials" aria-hidden="true">
          {initials(person.name)}
        </span>
      )}
      <ReactionMark identity={person.identity} />
      {!person.you && <PinButton id={person.identity} label={t('pin.person', { name: person.name })} />}
      <p className="tile-name">
        <bdi className="tile-who">{person.name}</bdi>
        <Badges person={person} away={away} />
      </p>
    </li>
  );
}
