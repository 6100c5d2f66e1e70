/** Reads without any sound after which a microphone counts as silent. Even a quiet room makes some noise. */
const silentReads = 6;

/** Recognizes a microphone that is on and delivers nothing, from repeated reads of the energy that it has sent. */
export class SilenceWatch {
  #energy: number | null = null;
  #reads = 0;

  /** Adds a read; null if the energy is unknown. Returns whether the microphone is silent. */
  isSilent(energy: number | null): boolean {
    this.#reads = energy !== null && energy === this.#energy ? this.#reads + 1 : 0;
    this.#energy = energy;
    return this.#reads >= silentReads;
  }
}

/** Returns the energy of all sound of a track since it was published; null if the browser does not tell. */
export function sentEnergy(report: Pick<RTCStatsReport, 'forEach'>): number | null {
  let energy: number | null = null;
  report.forEach((entry: RTCStats & { kind?: string; totalAudioEnergy?: number }) => {
    if (entry.type === 'media-source' && entry.kind === 'audio') energy = entry.totalAudioEnergy ?? null;
  });
  return energy;
}
