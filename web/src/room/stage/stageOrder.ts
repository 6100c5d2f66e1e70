/**
 * Returns the order of people on a stage that shows the first `visibleCount`. People keep
 * their position; only a speaker who is not visible is swapped with the visible person who
 * has been silent longest. The first `fixedCount` positions never change: the visitor's
 * own.
 */
export function orderForStage(
  before: readonly string[],
  present: readonly string[],
  visibleCount: number,
  spokeAt: ReadonlyMap<string, number>,
  speaking: ReadonlySet<string>,
  fixedCount = 1,
): readonly string[] {
  const absent = new Set(present);
  const order = before.filter((identity) => absent.delete(identity));
  order.push(...absent);
  for (let i = visibleCount; i < order.length; i++) {
    const speaker = order[i];
    if (speaker === undefined || !speaking.has(speaker)) continue;
    let quietest = -1;
    for (let j = fixedCount; j < visibleCount; j++) {
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
export function orderByLastSpoken(before: readonly string[], spokeAt: ReadonlyMap<string, number>, fixedCount = 1): readonly string[] {
  const lastSpokenAt = (identity: string): number => spokeAt.get(identity) ?? 0;
  return [...before.slice(0, fixedCount), ...before.slice(fixedCount).toSorted((a, b) => lastSpokenAt(b) - lastSpokenAt(a))];
}
