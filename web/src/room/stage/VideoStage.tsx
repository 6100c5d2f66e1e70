import { type ReactElement, useCallback, useRef } from 'react';
import { t } from '../../messages';
import { useStore } from '../../state/useStore';
import { useMeetingMedia, useMeetingPeople, useMeetingView, useMembership } from '../meeting';
import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';
import { arrangeStage, ownScreenKey, planStage, type StageContent } from './arrangeStage';
import { DataSaverNotice } from './DataSaverNotice';
import { useFloating } from './floating';
import { MoreTile } from './MoreTile';
import { pins, screenKey, togglePin } from './pins';
import { OwnScreenShareTile, ScreenShareTile } from './ScreenShareTile';
import { selectLarge } from './selectLarge';
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

interface Stage {
  content: StageContent;
  cameras: ReadonlyMap<string, TrackReference>;
  screens: ReadonlyMap<string, TrackReference>;
  ownCamera: MediaStreamTrack | null;
}

/** Returns what there is to show on the stage. */
function useStageContent(): Stage {
  const { room } = useMembership();
  const { mediaState } = useMeetingMedia();
  const { people } = useMeetingPeople();
  const { cameras, screens: screenTracks } = useVisibleTracks(room);
  const screens = new Map(screenTracks.map((screen) => [screenKey(screen.participant.identity), screen]));
  const ownCamera = mediaState.camera.is === 'live' ? mediaState.camera.track : null;
  const othersWithVideo = useWithVideo(room, people, cameras);
  const withVideo = ownCamera ? new Set([...othersWithVideo, room.localParticipant.identity]) : othersWithVideo;
  const speaker = useActiveSpeaker(room, people);
  const large = selectLarge({
    present: new Set([...people.map(({ person }) => person.identity), ...screens.keys()]),
    pinned: useStore(pins),
    screens: [...screens.keys()],
    speakerView: useStore(speakerView),
    speaker,
  });
  const { visible, hiddenCount } = selectVisible(people, {
    hideSelf: useStore(hideSelf),
    hideWithoutVideo: useStore(hideWithoutVideo),
    withVideo: othersWithVideo,
    large,
  });
  const small = visible.filter(({ person }) => !large.includes(person.identity)).map(({ person }) => person);
  const content = {
    others: small.filter(({ you }) => !you).map(({ identity }) => identity),
    you: small.find(({ you }) => you)?.identity ?? null,
    large,
    screens: [...screens.keys()],
    ownScreen: mediaState.screen.is === 'live',
    withVideo,
    withoutVideo: useSettled(small.map(({ identity }) => identity).filter((identity) => !withVideo.has(identity))),
    speaker,
    hiddenCount,
  };
  return { content, cameras, screens, ownCamera };
}

/** The people and screens of a video room: all of the same size, or some large and the others in a strip. */
export function VideoStage(): ReactElement {
  const { room } = useMembership();
  const { people } = useMeetingPeople();
  const { openSheet } = useMeetingView();
  const stage = useRef<HTMLUListElement>(null);
  const space = useElementSize(stage);
  const { content, cameras, screens, ownCamera } = useStageContent();
  const plan = planStage(content, space);
  const floating = useFloating(stage, space);
  const entries = new Map(people.map((entry) => [entry.person.identity, entry]));
  const entriesOf = (identities: readonly string[]): Entry[] => identities.flatMap((identity) => entries.get(identity) ?? []);
  const tiles = useStageOrder(room, entriesOf(plan.tiles), plan.shownTiles).map(({ person }) => person.identity);
  const chips = useStageOrder(room, entriesOf(plan.chips), plan.shownChips).map(({ person }) => person.identity);
  const { keys, frames, chips: shownChips, moreCount, moreFrame } = arrangeStage(content, plan, tiles, chips, floating.frame);

  useTileMotion(stage, frames, space, !floating.dragged);
  const ownIdentity = room.localParticipant.identity;
  useDoublePress(
    stage,
    useCallback((key) => key !== ownIdentity && key !== ownScreenKey && togglePin(key), [ownIdentity]),
  );

  // The elements keep their order, so that no focus is lost when tiles change places.
  const rank = new Map(people.map(({ person }, i) => [person.identity, person.you ? Infinity : i]));
  const elements = [...keys].sort((a, b) => (rank.get(a) ?? -1) - (rank.get(b) ?? -1) || 0);
  return (
    <div className="stage">
      <DataSaverNotice />
      <ul ref={stage} className="tiles" aria-label={t('room.stage')}>
        {space.width > 0 &&
          elements.map((key) => {
            const position = { frame: frames.get(key), large: content.large.includes(key) };
            const entry = entries.get(key);
            if (entry) {
              const { you } = entry.person;
              const camera = cameras.get(key) ?? null;
              const state = { camera, ownTrack: you ? ownCamera : null, chip: shownChips.has(key), floating: plan.isPair && you };
              return <VideoTile key={key} entry={entry} {...state} {...position} />;
            }
            const screen = screens.get(key);
            return screen ? (
              <ScreenShareTile key={key} id={key} screen={screen} {...position} />
            ) : (
              <OwnScreenShareTile key={key} id={key} {...position} />
            );
          })}
        {moreCount > 0 && <MoreTile count={moreCount} frame={moreFrame} onPress={() => openSheet('people')} />}
      </ul>
    </div>
  );
}
