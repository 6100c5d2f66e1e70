/** A pause that belongs to what somebody says. */
const pauseMs = 1_000;
/** What is shorter may be a cough. */
const minSpeechMs = 1_200;
/** As long somebody has the floor at least. */
const minTurnMs = 2_500;

/** Who has the floor, and since when. */
export interface ActiveSpeaker {
  identity: string | null;
  since: number;
  /** From when until when somebody spoke last, pauses included. */
  lastSpeech: ReadonlyMap<string, { from: number; until: number }>;
}

export const noActiveSpeaker: ActiveSpeaker = { identity: null, since: -Infinity, lastSpeech: new Map() };

/**
 * The floor as of now, by who is there and who speaks, the loudest first.
 * Whoever has it keeps it while they speak, and until somebody else does in
 * earnest; when they leave it falls to who spoke last.
 */
export function updateActiveSpeaker(before: ActiveSpeaker, present: readonly string[], speaking: readonly string[], now: number): ActiveSpeaker {
  const lastSpeech = new Map<string, { from: number; until: number }>();
  for (const identity of present) {
    const last = before.lastSpeech.get(identity);
    if (speaking.includes(identity)) {
      const continues = last !== undefined && now - last.until < pauseMs;
      lastSpeech.set(identity, { from: continues ? last.from : now, until: now });
    } else if (last) {
      lastSpeech.set(identity, last);
    }
  }
  const current = before.identity;
  if (current === null || !present.includes(current)) {
    const latest = [...lastSpeech].reduce<[string | null, number]>(
      (best, [identity, { until }]) => (until > best[1] ? [identity, until] : best),
      [present[0] ?? null, -Infinity],
    );
    return { identity: latest[0], since: now, lastSpeech };
  }
  const stillSpeaking = now - (lastSpeech.get(current)?.until ?? -Infinity) < pauseMs;
  const next = speaking.find((identity) => identity !== current && now - (lastSpeech.get(identity)?.from ?? now) >= minSpeechMs);
  if (stillSpeaking || next === undefined || now - before.since < minTurnMs) return { ...before, lastSpeech };
  return { identity: next, since: now, lastSpeech };
}
