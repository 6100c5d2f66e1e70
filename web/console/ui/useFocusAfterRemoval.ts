import { useEffect } from 'react';

/**
 * Moves the focus to the heading of the page when the element that has it is removed, such as the button of an action that is done. The
 * browser would leave it nowhere: Tab would begin at the top, and a screen reader would not know where it is.
 */
export function useFocusAfterRemoval(): void {
  useEffect(() => {
    let focused: Node | null = null;
    const enter = ({ target }: FocusEvent): void => {
      focused = target as Node;
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
