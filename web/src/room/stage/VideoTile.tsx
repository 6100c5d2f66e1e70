import { type ReactElement, useRef } from 'react';
import { t } from '../../messages';
import { IconShape } from '../../ui/Icon';
import { useParticipantConnection } from '../connection/useParticipantConnection';
import { useMeetingMedia, useMembership } from '../meeting';
import { Badges } from '../people/Badges';
import { isPresent, nameOnStage, type Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { ReactionBadge } from '../reactions/ReactionBadge';
import { moveFloat } from './floating';
import { Picture } from './Picture';
import { PinButton } from './PinButton';
import { frameStyle, type TilePosition } from './tilePosition';
import { useAudioLevel } from './useAudioLevel';
import type { TrackReference } from './useRemoteTracks';

interface Props extends TilePosition {
  entry: RosterEntry<Person>;
  camera: TrackReference | null;
  /** The visitor's own video comes from the camera directly. */
  ownTrack: MediaStreamTrack | null;
  /** In the row of people without video. */
  chip: boolean;
  /** Over the picture of the only other person. */
  floating: boolean;
}

const moveIcon = 'M12 3v18M3 12h18M12 3l-3 3M12 3l3 3M12 21l-3-3M12 21l3-3M3 12l3-3M3 12l3 3M21 12l-3-3M21 12l-3 3';

/** A person in a video room. */
export function VideoTile({ entry: { person, disconnectedAt }, camera, ownTrack, frame, large, chip, floating }: Props): ReactElement {
  const { room } = useMembership();
  const { connectionLost } = useMeetingMedia();
  const item = useRef<HTMLLIElement>(null);
  useAudioLevel(room, person.participant, item);
  const away = disconnectedAt !== null;
  const isGone = away || !isPresent(room, person);
  const connectionState = useParticipantConnection(person.participant);
  const isLost = connectionState === 'lost';
  // A person who switches the camera off is not shown any more.
  const keepLast = isGone || (camera !== null && (isLost || connectionLost));
  return (
    <li
      ref={item}
      className="tile"
      style={frameStyle(frame)}
      data-key={person.identity}
      data-away={isGone || isLost || undefined}
      data-large={large || undefined}
      data-chip={chip || undefined}
      data-floating={floating || undefined}
    >
      <Picture person={person} camera={isGone ? null : camera} ownTrack={ownTrack} frame={frame} keepLast={keepLast} />
      <ReactionBadge identity={person.identity} />
      {!person.you && <PinButton id={person.identity} label={t('pin.person', { name: person.name })} />}
      {floating && (
        <button type="button" className="round pin" aria-label={t('self.move')} onClick={moveFloat}>
          <IconShape path={moveIcon} />
        </button>
      )}
      <p className="tile-name">
        <bdi className="tile-label">{nameOnStage(person)}</bdi>
        <Badges person={person} away={away} connectionState={connectionState} withYou={false} withRole={false} />
      </p>
    </li>
  );
}
