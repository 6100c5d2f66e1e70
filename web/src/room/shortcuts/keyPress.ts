export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'ctrlKey' | 'altKey' | 'metaKey' | 'repeat' | 'isComposing' | 'defaultPrevented'
>;

/** Whether a key was pressed alone. Combinations belong to the browser or a screen reader. */
export function isUnmodified(press: KeyPress): boolean {
  return !(press.ctrlKey || press.altKey || press.metaKey || press.repeat || press.isComposing || press.defaultPrevented);
}

/** Returns the shortcut of a key press, or undefined. */
export function findShortcut<S extends { key: string }>(press: KeyPress, shortcuts: readonly S[]): S | undefined {
  if (!isUnmodified(press)) return undefined;
  const key = press.key === '؟' ? '?' : press.key.toLowerCase();
  // On a keyboard without Latin letters, the physical position of the key counts.
  const physicalKey = key.length === 1 && key <= '\u007f' ? null : /^Key([A-Z])$/.exec(press.code)?.[1]?.toLowerCase();
  return shortcuts.find((shortcut) => shortcut.key === (physicalKey ?? key));
}

/** The element uses letter keys. */
export const acceptsText = (element: Element | null): boolean =>
  element?.closest('input:not([type="checkbox"]), select, textarea, [contenteditable]') != null;

/** The element uses the space bar. */
export const handlesSpace = (element: Element | null): boolean =>
  acceptsText(element) || element?.closest('button, a[href], input, summary, audio, video, [tabindex="0"]') != null;
