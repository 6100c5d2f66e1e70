/** A pause that belongs to what somebody says. */
const breath = 1_000;
/** What is shorter may be a cough. */
const words = 1_200;
/** As long somebody has the floor at least. */
const turn = 2_500;

/** Who has the floor, and since when. */
export interface Floor {
  holder: string | null;
  since: number;
  /** From when until when somebody spoke last, pauses included. */
  heard: ReadonlyMap<string, { from: number; until: number }>;
}

export const emptyFloor: Floor = { holder: null, since: -Infinity, heard: new Map() };

/**
 * The floor as of now, by who is there and who speaks, the loudest first.
 * Whoever has it keeps it while they speak, and until somebody else does in
 * earnest; when they leave it falls to who spoke last.
 */
export function pass(before: Floor, present: readonly string[], speaking: readonly string[], now: number): Floor {
  const heard = new Map<string, { from: number; until: number }>();
  for (const identity of present) {
    const last = before.heard.get(identity);
    if (speaking.includes(identity)) {
      const goesOn = last !== undefined && now - last.until < breath;
      heard.set(identity, { from: goesOn ? last.from : now, until: now });
    } else if (last) {
      heard.set(identity, last);
    }
  }
  const holder = before.holder;
  if (holder === null || !present.includes(holder)) {
    const latest = [...heard].reduce<[string | null, number]>(
      (best, [identity, { until }]) => (until > best[1] ? [identity, until] : best),
      [present[0] ?? null, -Infinity],
    );
    return { holder: latest[0], since: now, heard };
  }
  const speaks = now - (heard.get(holder)?.until ?? -Infinity) < breath;
  const next = speaking.find((identity) => identity !== holder && now - (heard.get(identity)?.from ?? now) >= words);
  if (speaks || next === undefined || now - before.since < turn) return { ...before, heard };
  return { holder: next, since: now, heard };
}
