/**
 * Returns the order of people on a stage that shows the first `visibleCount`. People keep
 * their position; only a speaker who is not visible is swapped with the visible person who
 * has been silent longest.
 */
export function orderForStage(
  before: readonly string[],
  present: readonly string[],
  visibleCount: number,
  spokeAt: ReadonlyMap<string, number>,
  speaking: ReadonlySet<string>,
): readonly string[] {
  const absent = new Set(present);
  const order = before.filter((identity) => absent.delete(identity));
  order.push(...absent);
  for (let i = visibleCount; i < order.length; i++) {
    const speaker = order[i];
    if (speaker === undefined || !speaking.has(speaker)) continue;
    let quietest = -1;
    for (let j = 0; j < visibleCount; j++) {
      const candidate = order[j];
      if (candidate === undefined || speaking.has(candidate)) continue;
      const current = order[quietest];
      // On a tie the last position is replaced, because the top is read first.
      if (current === undefined || (spokeAt.get(candidate) ?? 0) <= (spokeAt.get(current) ?? 0)) quietest = j;
    }
    const displaced = order[quietest];
    if (displaced === undefined) break;
    order[quietest] = speaker;
    order[i] = displaced;
  }
  return order.length === before.length && order.every((identity, i) => identity === before[i]) ? before : order;
}

/** Returns the people in the order of their last speech, for a moment when the page is hidden. */
export function orderByLastSpoken(before: readonly string[], spokeAt: ReadonlyMap<string, number>): readonly string[] {
  const lastSpokenAt = (identity: string): number => spokeAt.get(identity) ?? 0;
  return [...before].sort((a, b) => lastSpokenAt(b) - lastSpokenAt(a));
}

/**
 * Returns how many of the others have a tile, and whether the visitor has one, when
 * `capacity` tiles fit. People who do not fit are counted in one more tile, and the visitor
 * comes last: others are what a stage is for.
 */
export function shareTiles(others: number, you: boolean, capacity: number): { others: number; you: boolean } {
  if (others + Number(you) <= capacity) return { others, you };
  const fitting = Math.max(1, capacity - 1);
  const showYou = you && fitting >= 3;
  return { others: Math.min(others, fitting - Number(showYou)), you: showYou };
}

/** Returns the people of a strip: the active speaker first, and the others as they were. */
export function speakerFirst<T>(people: readonly T[], isSpeaker: (person: T) => boolean): T[] {
  return [...people].sort((a, b) => Number(isSpeaker(b)) - Number(isSpeaker(a)));
}
