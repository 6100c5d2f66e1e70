import { isComposing } from '../../ui/composition';

export type KeyPress = Pick<
  KeyboardEvent,
  'key' | 'code' | 'keyCode' | 'ctrlKey' | 'altKey' | 'metaKey' | 'repeat' | 'isComposing' | 'defaultPrevented'
>;

/** Whether a key was pressed alone. Combinations belong to the browser or a screen reader. */
export function isUnmodified(press: KeyPress): boolean {
  return !(press.ctrlKey || press.altKey || press.metaKey || press.repeat || isComposing(press) || press.defaultPrevented);
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

/** The space bar presses the element. */
export const isControl = (element: Element | null): boolean =>
  element?.closest('button, a[href], input, summary, audio, video, [tabindex="0"]') != null;
