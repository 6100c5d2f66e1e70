import { useLayoutEffect, useRef } from 'react';
import { useStore } from '../../lib/useStore';
import type { LocalMedia } from '../../media/localMedia';
import { shortcutsEnabled } from './shortcutsEnabled';
import { isUnmodified, findShortcut, acceptsText, handlesSpace } from './keyPress';
import type { Shortcut } from './shortcuts';

const isDialogOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** Does what single keys are for, unless they are turned off: as soon as what they act on is drawn. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const on = useStore(shortcutsEnabled);
  const latest = useRef(shortcuts);
  useLayoutEffect(() => {
    latest.current = shortcuts;
  }, [shortcuts]);
  useLayoutEffect(() => {
    if (!on) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isDialogOpen() || acceptsText(document.activeElement)) return;
      const shortcut = findShortcut(event, latest.current);
      if (!shortcut) return;
      event.preventDefault();
      shortcut.run();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [on]);
}

/** Lets somebody who is muted speak for as long as the space bar is held. */
export function usePushToTalk(localMedia: LocalMedia, micAllowed: boolean): void {
  const on = useStore(shortcutsEnabled);
  useLayoutEffect(() => {
    if (!on || !micAllowed) return;
    let held = false;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.code !== 'Space' || isDialogOpen() || handlesSpace(document.activeElement)) return;
      // Nor does the page scroll while it is held.
      if (held) return event.preventDefault();
      if (!isUnmodified(event) || event.shiftKey || localMedia.state.get().micOn) return;
      event.preventDefault();
      held = true;
      void localMedia.setMicOnTemporarily(true);
    };
    const release = (): void => {
      if (!held) return;
      held = false;
      void localMedia.setMicOnTemporarily(false);
    };
    const onKeyUp = (event: KeyboardEvent): void => {
      if (event.code === 'Space') release();
    };
    window.addEventListener('keydown', onKeyDown);
    window.addEventListener('keyup', onKeyUp);
    // Whoever goes to another window lets go of the key there.
    window.addEventListener('blur', release);
    document.addEventListener('visibilitychange', release);
    return () => {
      window.removeEventListener('keydown', onKeyDown);
      window.removeEventListener('keyup', onKeyUp);
      window.removeEventListener('blur', release);
      document.removeEventListener('visibilitychange', release);
      release();
    };
  }, [on, micAllowed, localMedia]);
}
