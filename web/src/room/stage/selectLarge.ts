interface LargeOptions {
  /** The keys of everything that can be shown. */
  present: ReadonlySet<string>;
  /** The keys that the visitor has pinned. */
  pinned: readonly string[];
  /** The screens of others. */
  screens: readonly string[];
  /** Whether the active speaker is shown large. */
  speakerView: boolean;
  /** The active speaker. */
  speaker: string | null;
}

/**
 * Returns the keys of what is shown large: pins first, because the visitor chose them,
 * then screens, then the active speaker. Empty when all tiles have the same size.
 */
export function selectLarge({ present, pinned, screens, speakerView, speaker }: LargeOptions): readonly string[] {
  const wanted = pinned.filter((key) => present.has(key));
  if (wanted.length > 0) return wanted;
  if (screens.length > 0) return screens;
  return speakerView && speaker !== null && present.has(speaker) ? [speaker] : [];
}
