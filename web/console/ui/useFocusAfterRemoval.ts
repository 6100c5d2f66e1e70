import { useEffect } from 'react';

/** The parts of a page that have a name, which screen readers say when the part gets the focus. */
const namedPart = '#content :is(section[aria-label], section[aria-labelledby], [role=region])';

/**
 * Moves the focus when the element that has it is removed, such as the button of an action that is done. The part of the page gets it in
 * which the element was, so that Tab goes on there, or the heading if that part is gone, too. The browser would leave the focus nowhere:
 * Tab would begin at the top, and a screen reader would not know where it is.
 */
export function useFocusAfterRemoval(): void {
  useEffect(() => {
    let focused: Node | null = null;
    let parts: HTMLElement[] = []; // that had the focus, the innermost first
    const enter = ({ target }: FocusEvent): void => {
      const entered = target as Element;
      focused = entered;
      // A dialog is outside of the part that has its button.
      if (entered.closest('dialog')) return;
      parts = [...document.querySelectorAll<HTMLElement>(namedPart)].filter((part) => part.contains(entered)).reverse();
    };
    // After the event, because some browsers send it while they remove the element. A click beside an element takes its focus, too, and
    // then nothing is lost when the element disappears later. The focus of a page in another window stays.
    const leave = ({ target }: FocusEvent): void =>
      queueMicrotask(() => {
        if (focused === target && focused?.isConnected && document.activeElement !== focused) focused = null;
      });
    const observer = new MutationObserver(() => {
      if (!focused || focused.isConnected) return;
      focused = null;
      if (document.activeElement !== document.body) return;
      const part = parts.find(({ isConnected }) => isConnected);
      if (part && !part.hasAttribute('tabindex')) part.tabIndex = -1;
      part?.focus({ preventScroll: true });
      // A part that is hidden does not take the focus.
      if (document.activeElement === document.body) document.querySelector<HTMLElement>('#content h1')?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', enter);
    document.addEventListener('focusout', leave);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      document.removeEventListener('focusin', enter);
      document.removeEventListener('focusout', leave);
      observer.disconnect();
    };
  }, []);
}
