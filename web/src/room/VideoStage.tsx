import type { Room } from 'livekit-client';
import { useRef, type ReactElement } from 'react';
import { useSize } from '../lib/useSize';
import { useStore } from '../lib/useStore';
import type { Desk } from '../media/desk';
import { t } from '../messages';
import { capacity } from './grid';
import { MoreTile } from './MoreTile';
import type { Person } from './person';
import type { Entry } from './roll';
import { OwnShare, Share } from './Share';
import { castOf } from './stage/cast';
import { facesOnly, selfHidden, speakerView } from './stage/choices';
import { enlarged } from './stage/enlarged';
import { besides, gap, gridFrames, largeFrames, leastWidth, stripFrames, stripOf, type Frame } from './stage/frames';
import { pins, screenOf } from './stage/pins';
import { SavingNote } from './stage/SavingNote';
import { useFloor } from './stage/useFloor';
import { useSeen } from './stage/useSeen';
import { Tile } from './Tile';
import { useOrder } from './useOrder';
import type { TrackReference } from './useRemoteTracks';

interface Props {
  room: Room;
  people: Entry<Person>[];
  desk: Desk;
  onPeople: () => void;
}

type Item = { key: string; entry: Entry<Person> } | { key: string; screen: TrackReference | null };

/** The people of a video room and their screens: all of one size, or some large and the others in a strip. */
export function VideoStage({ room, people, desk, onPeople }: Props): ReactElement {
  const stage = useRef<HTMLUListElement>(null);
  const space = useSize(stage);
  const { cameras, screens } = useSeen(room);
  const bySpeaker = useStore(speakerView);
  const speaker = useFloor(room, people, bySpeaker);
  const shared = new Map(screens.map((screen) => [screenOf(screen.participant.identity), screen]));
  const large = enlarged({
    present: new Set([...people.map(({ person }) => person.identity), ...shared.keys()]),
    pinned: useStore(pins),
    screens: [...shared.keys()],
    speakerView: bySpeaker,
    speaker,
  });
  const { cast, unseen } = castOf(people, {
    selfHidden: useStore(selfHidden),
    facesOnly: useStore(facesOnly),
    seen: new Set(cameras.keys()),
    large,
  });

  const smallScreens: Item[] = [...shared].filter(([key]) => !large.includes(key)).map(([key, screen]) => ({ key, screen }));
  // One's own is said last: it moves nobody.
  const ownScreen: Item[] = desk.screen.is === 'live' ? [{ key: 'own', screen: null }] : [];
  const screensToPlace = smallScreens.length + ownScreen.length;

  // Upright spaces hold upright tiles better.
  const ratio = space.height > space.width * 1.2 && cast.length + screensToPlace < 3 ? 1 : 4 / 3;
  const strip = large.length > 0 ? stripOf(space) : null;
  const places = Math.max(1, (strip ? strip.places : capacity(space, ratio, gap, leastWidth)) - screensToPlace);
  const starring = cast.filter(({ person }) => large.includes(person.identity)).length;
  const others = cast.length - starring;
  const fitting = others > places ? places - 1 : others;
  const ordered = useOrder(room, cast, fitting + starring);
  const small: Item[] = [
    ...smallScreens,
    ...ordered
      .filter(({ person }) => !large.includes(person.identity))
      .slice(0, fitting)
      .map((entry) => ({ key: entry.person.identity, entry })),
    ...ownScreen,
  ];
  // Who is left out by wish needs no place to say so, unless there is one anyway.
  const more = fitting < others ? others - fitting + unseen : 0;
  const stars = large.flatMap((key): Item[] => {
    const screen = shared.get(key);
    const entry = cast.find(({ person }) => person.identity === key);
    return screen ? [{ key, screen }] : entry ? [{ key, entry }] : [];
  });

  const count = small.length + (more > 0 ? 1 : 0);
  const frames: Frame[] = strip
    ? [
        ...largeFrames(stars.length, count > 0 ? besides(space, strip) : space, stars.every((star) => 'screen' in star)),
        ...stripFrames(count, space, strip),
      ]
    : gridFrames(count, space, ratio);
  const camera = desk.camera.is === 'live' ? desk.camera.track : null;
  const items = [...stars, ...small];
  return (
    <div className="stage">
      <SavingNote />
      <ul ref={stage} className="tiles" aria-label={t('room.stage')}>
        {space.width > 0 &&
          items.map((item, i) => {
            const place = { frame: frames[i], large: i < stars.length };
            if ('entry' in item) {
              const { you, identity } = item.entry.person;
              return <Tile key={item.key} room={room} entry={item.entry} camera={cameras.get(identity) ?? null} own={you ? camera : null} {...place} />;
            }
            return item.screen ? <Share key={item.key} id={item.key} screen={item.screen} {...place} /> : <OwnShare key={item.key} {...place} />;
          })}
        {more > 0 && <MoreTile count={more} frame={frames[items.length]} onPress={onPeople} />}
      </ul>
    </div>
  );
}
