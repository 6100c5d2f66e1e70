import { type ReactElement, useCallback, useRef } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { useMeeting } from '../meeting';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { DataSaverNotice } from './DataSaverNotice';
import { useFloating } from './floating';
import {
  belowScreen,
  besideStrip,
  chipRowOf,
  type Frame,
  gap,
  gridCapacity,
  gridFrames,
  largeFrames,
  stripFrames,
  stripOf,
} from './frames';
import { MoreTile } from './MoreTile';
import { pins, screenKey, togglePin } from './pins';
import { OwnScreenShareTile, ScreenShareTile } from './ScreenShareTile';
import { selectLarge } from './selectLarge';
import { shareTiles, speakerFirst } from './stageOrder';
import { useActiveSpeaker } from './useActiveSpeaker';
import { useDoublePress } from './useDoublePress';
import { useElementSize } from './useElementSize';
import type { TrackReference } from './useRemoteTracks';
import { useSettled } from './useSettled';
import { useStageOrder } from './useStageOrder';
import { useTileMotion } from './useTileMotion';
import { useVisibleTracks } from './useVisibleTracks';
import { useWithVideo } from './useWithVideo';
import { VideoTile } from './VideoTile';
import { hideSelf, hideWithoutVideo, speakerView } from './viewPreferences';
import { selectVisible } from './visible';

type Entry = RosterEntry<Person>;
type Item = { key: string; entry: Entry } | { key: string; screen: TrackReference | null };

const ownScreenKey = 'own/screen';

const itemOf = (entry: Entry): Item => ({ key: entry.person.identity, entry });

/** The people and screens of a video room: all of the same size, or some large and the others in a strip. */
export function VideoStage(): ReactElement {
  const { room, people, mediaState, openSheet } = useMeeting();
  const stage = useRef<HTMLUListElement>(null);
  const space = useElementSize(stage);
  const { cameras, screens } = useVisibleTracks(room);
  const withVideo = useWithVideo(room, people, cameras);
  const speaker = useActiveSpeaker(room, people);
  const shared = new Map(screens.map((screen) => [screenKey(screen.participant.identity), screen]));
  const large = selectLarge({
    present: new Set([...people.map(({ person }) => person.identity), ...shared.keys()]),
    pinned: useStore(pins),
    screens: [...shared.keys()],
    speakerView: useStore(speakerView),
    speaker,
  });
  const { visible, hiddenCount } = selectVisible(people, {
    hideSelf: useStore(hideSelf),
    hideWithoutVideo: useStore(hideWithoutVideo),
    withVideo,
    large,
  });
  const camera = mediaState.camera.is === 'live' ? mediaState.camera.track : null;
  const small = visible.filter(({ person }) => !large.includes(person.identity));
  const others = small.filter(({ person }) => !person.you);
  const you = small.find(({ person }) => person.you);
  const smallScreens: Item[] = [...shared].filter(([key]) => !large.includes(key)).map(([key, screen]) => ({ key, screen }));
  // The visitor's own screen is last, so that it moves no other tile.
  const ownScreen: Item[] = mediaState.screen.is === 'live' ? [{ key: ownScreenKey, screen: null }] : [];

  // In a call of two the other person fills the stage.
  const inStrip = large.length > 0;
  const isPair = !inStrip && others.length === 1 && you !== undefined && ownScreen.length === 0;
  const floating = useFloating(stage, space);

  // People without video need less space, when others have video.
  const hasVideo = ({ person }: Entry): boolean => (person.you ? camera !== null : withVideo.has(person.identity));
  const withoutVideo = useSettled(small.filter((entry) => !hasVideo(entry)).map(({ person }) => person.identity));
  const someHaveVideo = others.some(hasVideo);
  const isChip = ({ person }: Entry): boolean => !inStrip && !isPair && someHaveVideo && withoutVideo.has(person.identity);
  const chips = others.filter(isChip);
  const ownChip = you && isChip(you) ? you : undefined;
  const tiles = others.filter((entry) => !isChip(entry));
  const ownTile = ownChip ? undefined : you;

  const onlyScreen = large.length === 1 && large.every((key) => shared.has(key));
  const below = onlyScreen && small.length > 0 ? belowScreen(space) : null;
  const strip = inStrip && !below ? stripOf(space) : null;
  const chipRow = chips.length > 0 || ownChip ? chipRowOf(space) : null;
  const gridSpace = below?.people ?? (chipRow ? besideStrip(space, chipRow) : space);
  const screenCount = smallScreens.length + ownScreen.length;
  const capacity = Math.max(1, (strip ? strip.capacity : gridCapacity(gridSpace)) - screenCount);
  const fitting = shareTiles(tiles.length, ownTile !== undefined, capacity);
  const chipCapacity = (chipRow?.capacity ?? 0) - (fitting.others < tiles.length ? 1 : 0);
  const fittingChips = shareTiles(chips.length, ownChip !== undefined, chipCapacity);

  const orderedTiles = useStageOrder(room, tiles, fitting.others);
  const orderedChips = useStageOrder(room, chips, fittingChips.others);
  // The active speaker comes first, so that the speaker is shown even if few tiles fit.
  const isSpeaker = ({ person }: Entry): boolean => person.identity === speaker;
  const shownTiles = (inStrip ? speakerFirst(orderedTiles, isSpeaker) : orderedTiles).slice(0, fitting.others);
  const missing = tiles.length - fitting.others + chips.length - fittingChips.others;
  // People who are hidden by the visitor's setting are only counted in a tile that exists anyway.
  const moreCount = missing > 0 ? missing + hiddenCount : 0;

  const largeItems = large.flatMap((key): Item[] => {
    const screen = shared.get(key);
    const entry = visible.find(({ person }) => person.identity === key);
    return screen ? [{ key, screen }] : entry ? [itemOf(entry)] : [];
  });
  const smallItems: Item[] = [
    ...smallScreens,
    ...shownTiles.map(itemOf),
    ...ownScreen,
    ...(ownTile && fitting.you && !isPair ? [itemOf(ownTile)] : []),
  ];
  const chipItems = [...orderedChips.slice(0, fittingChips.others), ...(ownChip && fittingChips.you ? [ownChip] : [])].map(itemOf);

  const moreInRow = moreCount > 0 && chipRow !== null;
  const smallCount = smallItems.length + (moreCount > 0 && !moreInRow ? 1 : 0);
  const smallFrames = isPair
    ? [{ x: 0, y: 0, ...space }]
    : strip
      ? stripFrames(smallCount, space, strip)
      : gridFrames(smallCount, gridSpace).map((frame) => (below ? { ...frame, y: frame.y + below.screen.height + gap } : frame));
  const chipFrames = chipRow ? stripFrames(chipItems.length + (moreInRow ? 1 : 0), space, chipRow) : [];
  const largeSpace = below?.screen ?? (strip && smallCount > 0 ? besideStrip(space, strip) : space);
  const frames = new Map<string, Frame>();
  const place = (items: Item[], at: Frame[]): void => {
    items.forEach(({ key }, i) => {
      const frame = at[i];
      if (frame) frames.set(key, frame);
    });
  };
  place(
    largeItems,
    largeFrames(
      largeItems.length,
      largeSpace,
      largeItems.every((item) => 'screen' in item),
    ),
  );
  place(smallItems, smallFrames);
  place(chipItems, chipFrames);
  if (isPair && you) frames.set(you.person.identity, floating.frame);
  const moreFrame = moreInRow ? chipFrames[chipItems.length] : smallFrames[smallItems.length];

  useTileMotion(stage, frames, space, !floating.dragged);
  const ownIdentity = room.localParticipant.identity;
  useDoublePress(
    stage,
    useCallback((key) => key !== ownIdentity && key !== ownScreenKey && togglePin(key), [ownIdentity]),
  );

  // The elements keep their order, so that no focus is lost when tiles change places.
  const rank = new Map(people.map(({ person }, i) => [person.identity, person.you ? Infinity : i]));
  const items = [...largeItems, ...smallItems, ...chipItems, ...(isPair && you ? [itemOf(you)] : [])].sort(
    (a, b) => (rank.get(a.key) ?? -1) - (rank.get(b.key) ?? -1) || 0,
  );
  const chipKeys = new Set(chipItems.map(({ key }) => key));
  return (
    <div className="stage">
      <DataSaverNotice />
      <ul ref={stage} className="tiles" aria-label={t('room.stage')}>
        {space.width > 0 &&
          items.map((item) => {
            const position = { frame: frames.get(item.key), large: large.includes(item.key) };
            if ('entry' in item) {
              const { you, identity } = item.entry.person;
              return (
                <VideoTile
                  key={item.key}
                  entry={item.entry}
                  camera={cameras.get(identity) ?? null}
                  ownTrack={you ? camera : null}
                  chip={chipKeys.has(item.key)}
                  floating={isPair && you}
                  {...position}
                />
              );
            }
            return item.screen ? (
              <ScreenShareTile key={item.key} id={item.key} screen={item.screen} {...position} />
            ) : (
              <OwnScreenShareTile key={item.key} id={item.key} {...position} />
            );
          })}
        {moreCount > 0 && <MoreTile count={moreCount} frame={moreFrame} onPress={() => openSheet('people')} />}
      </ul>
    </div>
  );
}
