/** Returns the first button of the dialog, which gets the focus when the focused button is removed. */
export function firstButtonInDialog(button: Element): HTMLElement | null {
  return button.closest('dialog')?.querySelector('button') ?? null;
}
