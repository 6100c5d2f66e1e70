/** A shorter pause does not end a speech. */
const pauseMs = 1_000;
/** A shorter sound may be a cough. */
const minSpeechMs = 1_200;
/** The minimum time between two changes of the active speaker. */
const minTurnMs = 2_500;

/** The active speaker, and since when. */
export interface ActiveSpeaker {
  identity: string | null;
  since: number;
  /** The start and the end of each person's last speech, including pauses. */
  lastSpeech: ReadonlyMap<string, { from: number; until: number }>;
}

export const noActiveSpeaker: ActiveSpeaker = { identity: null, since: -Infinity, lastSpeech: new Map() };

/**
 * Returns the active speaker, by who is present and who speaks, the loudest first. The
 * active speaker stays while they speak, and after that until somebody else speaks for
 * long enough. When they leave, the person who spoke last follows.
 */
export function updateActiveSpeaker(
  before: ActiveSpeaker,
  present: readonly string[],
  speaking: readonly string[],
  now: number,
): ActiveSpeaker {
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
