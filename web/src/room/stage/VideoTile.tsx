import { type ReactElement, useRef } from 'react';
import { t } from '../../messages';
import { initials } from '../../ui/initials';
import { LocalVideo } from '../../ui/LocalVideo';
import { useMeeting } from '../meeting';
import { Badges } from '../people/Badges';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { ReactionBadge } from '../reactions/ReactionBadge';
import { PinButton } from './PinButton';
import { RemoteVideo } from './RemoteVideo';
import { frameStyle, type TilePosition } from './tilePosition';
import { useAudioLevel } from './useAudioLevel';
import type { TrackReference } from './useRemoteTracks';

interface Props extends TilePosition {
  entry: RosterEntry<Person>;
  camera: TrackReference | null;
  /** The visitor's own video comes from the camera directly. */
  ownTrack: MediaStreamTrack | null;
}

/** A person in a video room. */
export function VideoTile({ entry: { person, disconnectedAt }, camera, ownTrack, frame, large }: Props): ReactElement {
  const { room } = useMeeting();
  const item = useRef<HTMLLIElement>(null);
  useAudioLevel(room, person.participant, item);
  const away = disconnectedAt !== null;
  const video = ownTrack ? <LocalVideo track={ownTrack} /> : camera && !away ? <RemoteVideo of={camera} /> : null;
  return (
    <li ref={item} className="tile" style={frameStyle(frame)} data-away={away || undefined} data-large={large || undefined}>
      {video ?? (
        <span className="initials" aria-hidden="true">
          {initials(person.name)}
        </span>
      )}
      <ReactionBadge identity={person.identity} />
      {!person.you && <PinButton id={person.identity} label={t('pin.person', { name: person.name })} />}
      <p className="tile-name">
        <bdi className="tile-label">{person.name}</bdi>
        <Badges person={person} away={away} />
      </p>
    </li>
  );
}
