export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'altKey' | 'metaKey' | 'repeat' | 'isComposing' | 'defaultPrevented'
>;

/** Whether a key was pressed for itself: with others it is the browser's, or a screen reader's. */
export function isUnmodified(press: KeyPress): boolean {
  return !(press.ctrlKey || press.altKey || press.metaKey || press.repeat || press.isComposing || press.defaultPrevented);
}

/** The one that is meant; undefined when none is. */
export function findShortcut<S extends { key: string }>(press: KeyPress, shortcuts: readonly S[]): S | undefined {
  if (!isUnmodified(press)) return undefined;
  const key = press.key === '؟' ? '?' : press.key.toLowerCase();
  // A keyboard without Latin letters has them by their place.
  const physicalKey = /^[\u0000-\u007f]$/.test(key) ? null : /^Key([A-Z])$/.exec(press.code)?.[1]?.toLowerCase();
  return shortcuts.find((shortcut) => shortcut.key === (physicalKey ?? key));
}

/** Somebody writes or chooses there: letters are theirs. */
export const acceptsText = (element: Element | null): boolean =>
  element?.closest('input:not([type="checkbox"]), select, textarea, [contenteditable]') != null;

/** The space bar presses or scrolls there. */
export const handlesSpace = (element: Element | null): boolean =>
  acceptsText(element) || element?.closest('button, a[href], input, summary, audio, video, [tabindex="0"]') != null;
