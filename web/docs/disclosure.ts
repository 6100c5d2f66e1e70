/** Makes the menu and the table of contents open and close on narrow windows. */
export function setUpDisclosures(): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('.disclosure')];
  const close = (button: HTMLButtonElement): void => button.setAttribute('aria-expanded', 'false');
  const isOpen = (button: HTMLButtonElement): boolean => button.getAttribute('aria-expanded') === 'true';
  for (const button of buttons) {
    button.addEventListener('click', () => {
      const open = !isOpen(button);
      for (const other of buttons) close(other);
      button.setAttribute('aria-expanded', String(open));
    });
    button.parentElement?.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !isOpen(button)) return;
      close(button);
      button.focus();
    });
    // A link of the table of contents leads to a place on this page.
    button.nextElementSibling?.addEventListener('click', ({ target }) => {
      if (target instanceof HTMLAnchorElement) close(button);
    });
  }
  document.addEventListener('click', ({ target }) => {
    for (const button of buttons) {
      if (target instanceof Node && !button.parentElement?.contains(target)) close(button);
    }
  });
}
