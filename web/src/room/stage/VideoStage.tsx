import { type ReactElement, useRef } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { useMeeting } from '../meeting';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { DataSaverNotice } from './DataSaverNotice';
import { besideStrip, type Frame, gap, gridFrames, largeFrames, minTileWidth, stripFrames, stripOf } from './frames';
import { tileCapacity } from './grid';
import { MoreTile } from './MoreTile';
import { pins, screenKey } from './pins';
import { OwnScreenShareTile, ScreenShareTile } from './ScreenShareTile';
import { selectLarge } from './selectLarge';
import { useActiveSpeaker } from './useActiveSpeaker';
import { useElementSize } from './useElementSize';
import type { TrackReference } from './useRemoteTracks';
import { useStageOrder } from './useStageOrder';
import { useVisibleTracks } from './useVisibleTracks';
import { VideoTile } from './VideoTile';
import { hideSelf, hideWithoutVideo, speakerView } from './viewPreferences';
import { selectVisible } from './visible';

type Item = { key: string; entry: RosterEntry<Person> } | { key: string; screen: TrackReference | null };

/** The people and screens of a video room: all of the same size, or some large and the others in a strip. */
export function VideoStage(): ReactElement {
  const { room, people, mediaState, openSheet } = useMeeting();
  const stage = useRef<HTMLUListElement>(null);
  const space = useElementSize(stage);
  const { cameras, screens } = useVisibleTracks(room);
  const inSpeakerView = useStore(speakerView);
  const speaker = useActiveSpeaker(room, people, inSpeakerView);
  const shared = new Map(screens.map((screen) => [screenKey(screen.participant.identity), screen]));
  const large = selectLarge({
    present: new Set([...people.map(({ person }) => person.identity), ...shared.keys()]),
    pinned: useStore(pins),
    screens: [...shared.keys()],
    speakerView: inSpeakerView,
    speaker,
  });
  const { visible, hiddenCount } = selectVisible(people, {
    hideSelf: useStore(hideSelf),
    hideWithoutVideo: useStore(hideWithoutVideo),
    withVideo: new Set(cameras.keys()),
    large,
  });

  const smallScreens: Item[] = [...shared].filter(([key]) => !large.includes(key)).map(([key, screen]) => ({ key, screen }));
  // The visitor's own screen is last, so that it moves no other tile.
  const ownScreen: Item[] = mediaState.screen.is === 'live' ? [{ key: 'own', screen: null }] : [];
  const smallScreenCount = smallScreens.length + ownScreen.length;

  // Square tiles fill upright spaces better.
  const tileRatio = space.height > space.width * 1.2 && visible.length + smallScreenCount < 3 ? 1 : 4 / 3;
  const strip = large.length > 0 ? stripOf(space) : null;
  const stripCapacity = Math.max(1, (strip ? strip.capacity : tileCapacity(space, tileRatio, gap, minTileWidth)) - smallScreenCount);
  const largePeopleCount = visible.filter(({ person }) => large.includes(person.identity)).length;
  const smallPeopleCount = visible.length - largePeopleCount;
  const fittingCount = smallPeopleCount > stripCapacity ? stripCapacity - 1 : smallPeopleCount;
  const ordered = useStageOrder(room, visible, fittingCount + largePeopleCount);
  const smallItems: Item[] = [
    ...smallScreens,
    ...ordered
      .filter(({ person }) => !large.includes(person.identity))
      .slice(0, fittingCount)
      .map((entry) => ({ key: entry.person.identity, entry })),
    ...ownScreen,
  ];
  // People who are hidden by the visitor's setting are only counted in a tile that exists anyway.
  const moreCount = fittingCount < smallPeopleCount ? smallPeopleCount - fittingCount + hiddenCount : 0;
  const largeItems = large.flatMap((key): Item[] => {
    const screen = shared.get(key);
    const entry = visible.find(({ person }) => person.identity === key);
    return screen ? [{ key, screen }] : entry ? [{ key, entry }] : [];
  });

  const count = smallItems.length + (moreCount > 0 ? 1 : 0);
  const frames: Frame[] = strip
    ? [
        ...largeFrames(
          largeItems.length,
          count > 0 ? besideStrip(space, strip) : space,
          largeItems.every((item) => 'screen' in item),
        ),
        ...stripFrames(count, space, strip),
      ]
    : gridFrames(count, space, tileRatio);
  const camera = mediaState.camera.is === 'live' ? mediaState.camera.track : null;
  const items = [...largeItems, ...smallItems];
  return (
    <div className="stage">
      <DataSaverNotice />
      <ul ref={stage} className="tiles" aria-label={t('room.stage')}>
        {space.width > 0 &&
          items.map((item, i) => {
            const position = { frame: frames[i], large: i < largeItems.length };
            if ('entry' in item) {
              const { you, identity } = item.entry.person;
              return (
                <VideoTile
                  key={item.key}
                  entry={item.entry}
                  camera={cameras.get(identity) ?? null}
                  ownTrack={you ? camera : null}
                  {...position}
                />
              );
            }
            return item.screen ? (
              <ScreenShareTile key={item.key} id={item.key} screen={item.screen} {...position} />
            ) : (
              <OwnScreenShareTile key={item.key} {...position} />
            );
          })}
        {moreCount > 0 && <MoreTile count={moreCount} frame={frames[items.length]} onPress={() => openSheet('people')} />}
      </ul>
    </div>
  );
}
