import { useLayoutEffect, useRef } from 'react';
import { useStore } from '../../lib/useStore';
import type { Studio } from '../../media/studio';
import { keysOn } from './choice';
import { isPlain, pressed, takesLetters, takesSpace } from './pressed';
import type { Shortcut } from './table';

const sheetOpen = (): boolean => document.querySelector('dialog[open]') !== null;

/** Does what single keys are for, unless they are turned off: as soon as what they act on is drawn. */
export function useKeys(shortcuts: readonly Shortcut[]): void {
  const on = useStore(keysOn);
  const newest = useRef(shortcuts);
  useLayoutEffect(() => {
    newest.current = shortcuts;
  }, [shortcuts]);
  useLayoutEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent): void => {
      if (sheetOpen() || takesLetters(document.activeElement)) return;
      const shortcut = pressed(event, newest.current);
      if (!shortcut) return;
      event.preventDefault();
      shortcut.run();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [on]);
}

/** Lets somebody who is muted speak for as long as the space bar is held. */
export function usePushToTalk(studio: Studio, allowed: boolean): void {
  const on = useStore(keysOn);
  useLayoutEffect(() => {
    if (!on || !allowed) return;
    let held = false;
    const press = (event: KeyboardEvent): void => {
      if (event.code !== 'Space' || sheetOpen() || takesSpace(document.activeElement)) return;
      // Nor does the page scroll while it is held.
      if (held) return event.preventDefault();
      if (!isPlain(event) || event.shiftKey || studio.desk.get().micOn) return;
      event.preventDefault();
      held = true;
      void studio.holdMicOn(true);
    };
    const release = (): void => {
      if (!held) return;
      held = false;
      void studio.holdMicOn(false);
    };
    const lift = (event: KeyboardEvent): void => {
      if (event.code === 'Space') release();
    };
    window.addEventListener('keydown', press);
    window.addEventListener('keyup', lift);
    // Whoever goes to another window lets go of the key there.
    window.addEventListener('blur', release);
    document.addEventListener('visibilitychange', release);
    return () => {
      window.removeEventListener('keydown', press);
      window.removeEventListener('keyup', lift);
      window.removeEventListener('blur', release);
      document.removeEventListener('visibilitychange', release);
      release();
    };
  }, [on, allowed, studio]);
}
