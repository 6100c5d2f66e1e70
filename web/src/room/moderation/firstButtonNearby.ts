/** Returns the first button of the tab, which gets the focus when the focused button is removed. */
export function firstButtonNearby(button: Element): HTMLElement | null {
  return button.closest('.panel')?.querySelector('button:not([tabindex="-1"])') ?? null;
}
