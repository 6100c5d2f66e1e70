import { useLayoutEffect, useRef } from 'react';
import type { LocalMedia } from '../../media/localMedia';
import { useStore } from '../../state/useStore';
import { acceptsText, findShortcut, handlesSpace, isUnmodified } from './keyPress';
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

/** Unmutes a muted visitor while the space bar is held. */
export function usePushToTalk(localMedia: LocalMedia, micAllowed: boolean): void {
  const enabled = useStore(shortcutsEnabled);
  useLayoutEffect(() => {
    if (!enabled || !micAllowed) return;
    let held = false;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.code !== 'Space' || isDialogOpen() || handlesSpace(document.activeElement)) return;
      // Keeps the page from scrolling while the key is held.
      if (held) event.preventDefault();
      if (held || !isUnmodified(event) || event.shiftKey || localMedia.state.get().micOn) return;
      event.preventDefault();
      held = true;
      void localMedia.setMicOnTemporarily(true);
    };
    const releaseKey = (): void => {
      if (!held) return;
      held = false;
      void localMedia.setMicOnTemporarily(false);
    };
    const onKeyUp = (event: KeyboardEvent): void => {
      if (event.code === 'Space') releaseKey();
    };
    window.addEventListener('keydown', onKeyDown);
    window.addEventListener('keyup', onKeyUp);
    // The key is released in another window, which this page does not notice.
    window.addEventListener('blur', releaseKey);
    document.addEventListener('visibilitychange', releaseKey);
    return () => {
      window.removeEventListener('keydown', onKeyDown);
      window.removeEventListener('keyup', onKeyUp);
      window.removeEventListener('blur', releaseKey);
      document.removeEventListener('visibilitychange', releaseKey);
      releaseKey();
    };
  }, [enabled, micAllowed, localMedia]);
}
