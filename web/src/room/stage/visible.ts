import type { Person } from '../people/person';
import type { RosterEntry } from '../people/roster';

interface VisibilityOptions {
  hideSelf: boolean;
  hideWithoutVideo: boolean;
  /** The identities of people with video. */
  withVideo: ReadonlySet<string>;
  /** The keys of what is large. Its people are always shown. */
  large: readonly string[];
}

/** Returns the people to show, the visitor last, and how many others are hidden. The stage is never empty. */
export function selectVisible(
  people: readonly RosterEntry<Person>[],
  { hideSelf, hideWithoutVideo, withVideo, large }: VisibilityOptions,
): { visible: RosterEntry<Person>[]; hiddenCount: number } {
  const others = people.filter(({ person }) => !person.you);
  const othersWithVideo = others.filter(({ person: { identity } }) => withVideo.has(identity) || large.includes(identity));
  const shownOthers = hideWithoutVideo && (othersWithVideo.length > 0 || large.length > 0) ? othersWithVideo : others;
  const stageEmpty = shownOthers.length === 0 && large.length === 0;
  const you = people.filter(({ person }) => person.you && (!hideSelf || stageEmpty));
  return { visible: [...shownOthers, ...you], hiddenCount: others.length - shownOthers.length };
}
