interface LargeOptions {
  /** Everything that can be shown. */
  present: ReadonlySet<string>;
  /** What the visitor wants to see, come what may. */
  pinned: readonly string[];
  /** Screens that others share. */
  screens: readonly string[];
  /** Whether whoever speaks is to be large. */
  speakerView: boolean;
  /** Who has the floor. */
  speaker: string | null;
}

/**
 * What lies large on the stage; nothing where all are of one size. A pin is
 * the visitor's own wish and stands above all, a screen is what everybody is
 * asked to look at, and then comes who speaks.
 */
export function selectLarge({ present, pinned, screens, speakerView, speaker }: LargeOptions): readonly string[] {
  const wanted = pinned.filter((key) => present.has(key));
  if (wanted.length > 0) return wanted;
  if (screens.length > 0) return screens;
  return speakerView && speaker !== null && present.has(speaker) ? [speaker] : [];
}
