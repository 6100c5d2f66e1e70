import { useLayoutEffect, useRef } from 'react';
import type { LocalMedia } from '../../media/localMedia';
import { canPushToTalk } from '../../media/mediaState';
import { useStore } from '../../state/useStore';
import { acceptsText, findShortcut, isControl, isUnmodified } from './keyPress';
import type { Shortcut } from './shortcuts';
import { shortcutsEnabled } from './shortcutsEnabled';

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** Runs the shortcuts while they are enabled. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const enabled = useStore(shortcutsEnabled);
  const latest = useRef(shortcuts);
  useLayoutEffect(() => {
    latest.current = shortcuts;
  }, [shortcuts]);
  useLayoutEffect(() => {
    if (!enabled) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isDialogOpen() || acceptsText(document.activeElement)) return;
      const shortcut = findShortcut(event, latest.current);
      if (!shortcut) return;
      event.preventDefault();
      shortcut.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [enabled]);
}

/**
 * Watches the element on which the browser shows the keyboard focus. On a control that was clicked
 * it shows none, so that nobody expects the space bar to press it again. `:focus-visible` alone
 * does not tell, because browsers show the focus as soon as any key is pressed.
 */
function watchShownFocus(): { readonly element: Element | null; stop: () => void } {
  const shownOn = (target: EventTarget | null): Element | null =>
    target instanceof Element && target.matches(':focus-visible') ? target : null;
  let element = shownOn(document.activeElement);
  const onFocus = ({ target }: FocusEvent): void => {
    element = shownOn(target);
  };
  const onPress = (): void => {
    element = null;
  };
  document.addEventListener('focusin', onFocus);
  document.addEventListener('pointerdown', onPress, true);
  return {
    get element() {
      return element;
    },
    stop: () => {
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('pointerdown', onPress, true);
    },
  };
}

/** Unmutes a muted visitor while the space bar is held. */
export function usePushToTalk(localMedia: LocalMedia, micAllowed: boolean): void {
  const enabled = useStore(shortcutsEnabled);
  useLayoutEffect(() => {
    if (!enabled || !micAllowed) return;
    const focused = watchShownFocus();
    const handlesSpace = (): boolean => {
      const { activeElement } = document;
      return acceptsText(activeElement) || (isControl(activeElement) && activeElement === focused.element);
    };
    /** The space bar is down, and the visitor speaks until it is released. */
    let pressed = false;
    let speaking = false;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.code !== 'Space' || isDialogOpen()) return;
      if (!pressed && (handlesSpace() || !isUnmodified(event) || event.shiftKey)) return;
      // Neither presses a control that was clicked before, nor scrolls the page while the key is held.
      event.preventDefault();
      if (pressed) return;
      pressed = true;
      if (!canPushToTalk(localMedia.state.get())) return;
      speaking = true;
      void localMedia.setMicOnTemporarily(true);
    };
    const releaseKey = (): void => {
      pressed = false;
      if (!speaking) return;
      speaking = false;
      void localMedia.setMicOnTemporarily(false);
    };
    const onKeyUp = (event: KeyboardEvent): void => {
      if (event.code !== 'Space') return;
      // Some browsers press a control when the key is released.
      if (pressed) event.preventDefault();
      releaseKey();
    };
    window.addEventListener('keydown', onKeyDown);
    window.addEventListener('keyup', onKeyUp);
    // The key is released in another window, which this page does not notice.
    window.addEventListener('blur', releaseKey);
    document.addEventListener('visibilitychange', releaseKey);
    return () => {
      focused.stop();
      window.removeEventListener('keydown', onKeyDown);
      window.removeEventListener('keyup', onKeyUp);
      window.removeEventListener('blur', releaseKey);
      document.removeEventListener('visibilitychange', releaseKey);
      releaseKey();
    };
  }, [enabled, micAllowed, localMedia]);
}
