import type { Person } from '../person';
import type { RosterEntry } from '../roster';

interface VisibilityOptions {
  hideSelf: boolean;
  hideWithoutVideo: boolean;
  /** Who has a picture. */
  withVideo: ReadonlySet<string>;
  /** What is large, and whoever it belongs to is shown in any case. */
  large: readonly string[];
}

/** Who has a place on the stage, and how many others do without one; the stage is never left empty. */
export function selectVisible(people: readonly RosterEntry<Person>[], { hideSelf, hideWithoutVideo, withVideo, large }: VisibilityOptions): { visible: RosterEntry<Person>[]; hiddenCount: number } {
  const others = people.filter(({ person }) => !person.you);
  const othersWithVideo = others.filter(({ person: { identity } }) => withVideo.has(identity) || large.includes(identity));
  const shownOthers = hideWithoutVideo && (othersWithVideo.length > 0 || large.length > 0) ? othersWithVideo : others;
  const nobodyElse = shownOthers.length === 0 && large.length === 0;
  const you = people.filter(({ person }) => person.you && (!hideSelf || nobodyElse));
  return { visible: [...you, ...shownOthers], hiddenCount: others.length - shownOthers.length };
}
