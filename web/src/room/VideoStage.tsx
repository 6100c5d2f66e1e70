import type { TrackReference } from '@livekit/components-react';
import { Track, type Room } from 'livekit-client';
import { useRef, type ReactElement } from 'react';
import { useSize } from '../lib/useSize';
import { t } from '../messages';
import type { Desk } from '../media/desk';
import { capacity, fitGrid } from './grid';
import { MoreTile } from './MoreTile';
import type { Person } from './person';
import type { Entry } from './roll';
import { Share } from './Share';
import { Tile } from './Tile';
import { useOrder } from './useOrder';
import { useRemoteTracks } from './useRemoteTracks';

interface Props {
  room: Room;
  people: Entry<Person>[];
  desk: Desk;
  onPeople: () => void;
}

const gap = 8;
const least = 148;
const visible = [Track.Source.Camera, Track.Source.ScreenShare];

export function VideoStage({ room, people, desk, onPeople }: Props): ReactElement {
  const grid = useRef<HTMLUListElement>(null);
  const space = useSize(grid);
  const seen = useRemoteTracks(room, visible).filter(({ publication }) => !publication.isMuted);
  const screen = seen.find(({ source }) => source === Track.Source.ScreenShare) ?? null;
  const ownScreen = desk.screen.is === 'live' ? desk.screen.video : null;
  const cameras = new Map<string, TrackReference>(
    seen.filter(({ source }) => source === Track.Source.Camera).map((track) => [track.participant.identity, track]),
  );

  // Upright spaces hold upright tiles better.
  const ratio = space.height > space.width * 1.2 && people.length < 3 ? 1 : 4 / 3;
  const places = capacity(space, ratio, gap, least);
  const ordered = useOrder(room, people, people.length > places ? places - 1 : places);
  const shown = ordered.length > places ? ordered.slice(0, places - 1) : ordered;
  const more = ordered.length - shown.length;
  const { columns, width, height } = fitGrid(shown.length + (more > 0 ? 1 : 0), space, ratio, gap);
  const camera = desk.camera.is === 'live' ? desk.camera.track : null;
  return (
    <div className={screen || ownScreen ? 'stage sharing' : 'stage'}>
      {screen ? (
        <Share screen={screen} name={screen.participant.name || screen.participant.identity} />
      ) : (
        ownScreen && <Share screen={null} name="" />
      )}
      <ul
        ref={grid}
        className="tiles"
        aria-label={t('room.stage')}
        style={{ '--width': `${width}px`, '--height': `${height}px`, '--columns': columns, '--gap': `${gap}px` }}
      >
        {space.width > 0 &&
          shown.map((entry) => (
            <Tile
              key={entry.person.identity}
              room={room}
              entry={entry}
              camera={cameras.get(entry.person.identity) ?? null}
              own={entry.person.you ? camera : null}
            />
          ))}
        {more > 0 && <MoreTile count={more} onPress={onPeople} />}
      </ul>
    </div>
  );
}
