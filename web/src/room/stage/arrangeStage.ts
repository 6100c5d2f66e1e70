import {
  belowScreen,
  besideStrip,
  chipRowOf,
  type Frame,
  gap,
  gridCapacity,
  gridFrames,
  largeFrames,
  type Strip,
  stripFrames,
  stripOf,
} from './frames';
import { shareTiles, speakerFirst } from './stageOrder';
import type { Size } from './useElementSize';

/** The key of the visitor's own screen. */
export const ownScreenKey = 'own/screen';

/** What there is to show. People are known by their identity, and screens by their key. */
export interface StageContent {
  /** The other people who are not large. */
  others: readonly string[];
  /** The visitor, unless hidden. */
  you: string | null;
  /** The people and screens that are shown large. */
  large: readonly string[];
  /** The screens of others. */
  screens: readonly string[];
  ownScreen: boolean;
  withVideo: ReadonlySet<string>;
  /** The people who have been without video for a while. They need less space when others have video. */
  withoutVideo: ReadonlySet<string>;
  speaker: string | null;
  /** The people whom the visitor's settings hide. */
  hiddenCount: number;
}

/** The parts of the stage, and how many people fit into each. */
export interface StagePlan {
  space: Size;
  /** In a call of two, the other person fills the stage and the visitor floats above. */
  isPair: boolean;
  tiles: readonly string[];
  shownTiles: number;
  ownTile: string | null;
  chips: readonly string[];
  shownChips: number;
  ownChip: string | null;
  /** The strip of small tiles beside the large ones. */
  strip: Strip | null;
  /** The spaces of a shared screen and of the people below it. */
  below: ReturnType<typeof belowScreen>;
  chipRow: Strip | null;
  gridSpace: Size;
}

/** What is shown where. */
export interface Arrangement {
  keys: readonly string[];
  frames: ReadonlyMap<string, Frame>;
  chips: ReadonlySet<string>;
  /** The people without a tile, and where their number is shown. */
  moreCount: number;
  moreFrame: Frame | undefined;
}

/** Returns the parts of the stage. Its people are not ordered yet, because a speaker keeps a place that fits. */
export function planStage(content: StageContent, space: Size): StagePlan {
  const { others, you, large, screens, ownScreen, withVideo, withoutVideo } = content;
  const inStrip = large.length > 0;
  const isPair = !inStrip && others.length === 1 && you !== null && !ownScreen;
  const hasChips = !inStrip && !isPair && others.some((identity) => withVideo.has(identity));
  const isChip = (identity: string): boolean => hasChips && withoutVideo.has(identity);
  const tiles = others.filter((identity) => !isChip(identity));
  const chips = others.filter(isChip);
  const ownTile = you !== null && !isChip(you) ? you : null;
  const ownChip = you !== null && isChip(you) ? you : null;

  const isOnlyScreen = large.length === 1 && large.every((key) => screens.includes(key));
  const below = isOnlyScreen && others.length + Number(you !== null) > 0 ? belowScreen(space) : null;
  const strip = inStrip && !below ? stripOf(space) : null;
  const chipRow = chips.length > 0 || ownChip !== null ? chipRowOf(space) : null;
  const gridSpace = below?.people ?? (chipRow ? besideStrip(space, chipRow) : space);
  const screenCount = smallScreens(content).length + Number(ownScreen);
  const capacity = Math.max(1, (strip ? strip.capacity : gridCapacity(gridSpace)) - screenCount);
  const fitting = shareTiles(tiles.length, ownTile !== null, capacity);
  const chipCapacity = (chipRow?.capacity ?? 0) - (fitting.others < tiles.length ? 1 : 0);
  const fittingChips = shareTiles(chips.length, ownChip !== null, chipCapacity);
  return {
    space,
    isPair,
    tiles,
    shownTiles: fitting.others,
    ownTile: fitting.you ? ownTile : null,
    chips,
    shownChips: fittingChips.others,
    ownChip: fittingChips.you ? ownChip : null,
    strip,
    below,
    chipRow,
    gridSpace,
  };
}

const smallScreens = ({ screens, large }: StageContent): string[] => screens.filter((key) => !large.includes(key));

/** Returns the arrangement of a stage whose tiles and chips were put in order. `floating` is the visitor's frame in a call of two. */
export function arrangeStage(
  content: StageContent,
  plan: StagePlan,
  tiles: readonly string[],
  chips: readonly string[],
  floating: Frame,
): Arrangement {
  const { space, isPair, strip, below, chipRow, gridSpace } = plan;
  // The active speaker comes first, so that the speaker is shown even if few tiles fit.
  const ordered = content.large.length > 0 ? speakerFirst(tiles, (identity) => identity === content.speaker) : tiles;
  const missing = tiles.length - plan.shownTiles + chips.length - plan.shownChips;
  // People who are hidden by the visitor's setting are only counted in a tile that exists anyway.
  const moreCount = missing > 0 ? missing + content.hiddenCount : 0;
  const small = [
    ...smallScreens(content),
    ...ordered.slice(0, plan.shownTiles),
    // The visitor's own screen is last, so that it moves no other tile.
    ...(content.ownScreen ? [ownScreenKey] : []),
    ...(plan.ownTile !== null && !isPair ? [plan.ownTile] : []),
  ];
  const inRow = [...chips.slice(0, plan.shownChips), ...(plan.ownChip === null ? [] : [plan.ownChip])];

  const moreInRow = moreCount > 0 && chipRow !== null;
  const smallCount = small.length + Number(moreCount > 0 && !moreInRow);
  const smallFrames = isPair
    ? [{ x: 0, y: 0, ...space }]
    : strip
      ? stripFrames(smallCount, space, strip)
      : gridFrames(smallCount, gridSpace).map((frame) => (below ? { ...frame, y: frame.y + below.screen.height + gap } : frame));
  const rowFrames = chipRow ? stripFrames(inRow.length + Number(moreInRow), space, chipRow) : [];
  const largeSpace = below?.screen ?? (strip && smallCount > 0 ? besideStrip(space, strip) : space);
  const onlyScreens = content.large.every((key) => content.screens.includes(key));

  const frames = new Map<string, Frame>();
  const place = (keys: readonly string[], at: readonly Frame[]): void => {
    keys.forEach((key, i) => {
      const frame = at[i];
      if (frame) frames.set(key, frame);
    });
  };
  place(content.large, largeFrames(content.large.length, largeSpace, onlyScreens));
  place(small, smallFrames);
  place(inRow, rowFrames);
  if (isPair && content.you !== null) frames.set(content.you, floating);
  return {
    keys: [...content.large, ...small, ...inRow, ...(isPair && content.you !== null ? [content.you] : [])],
    frames,
    chips: new Set(inRow),
    moreCount,
    moreFrame: moreInRow ? rowFrames[inRow.length] : smallFrames[small.length],
  };
}
