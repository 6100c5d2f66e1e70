import { useEffect, useRef } from 'react';
import { Store } from '../state/store';

/** Milliseconds in which a second press of Back leaves the room. */
const secondPressMs = 4_000;

/** A press of Back was stopped, and the next one leaves the room. */
export const backStopped = new Store(false);

const hasGuard = (): boolean => (history.state as { guard?: boolean } | null)?.guard === true;

/** Adds an entry to the history that Back removes instead of leaving the page. */
function addGuard(): void {
  if (!hasGuard()) history.pushState({ ...(history.state as object | null), guard: true }, '');
}

/** The popovers that are open, and how each is closed. */
const openPopovers = new Set<() => void>();

/** Lets Back close a popover, which keeps its state to itself. Returns a function that ends this. */
export function closeOnBack(close: () => void): () => void {
  openPopovers.add(close);
  return () => openPopovers.delete(close);
}

function closePopovers(): boolean {
  const all = [...openPopovers];
  for (const close of all) close();
  return all.length > 0;
}

interface Guard {
  /** Closes the uppermost dialog or panel. Returns false if none is open. */
  closeView: () => boolean;
  leave: () => void;
  /** Other people are in the room, so that closing the tab by mistake interrupts a conversation. */
  accompanied: boolean;
}

/**
 * Keeps one press of Back, or the closing of the tab, from ending a call. Back closes the open
 * popover, dialog or panel first. In a frame, the page around it decides.
 */
export function useLeaveGuard(guard: Guard): void {
  const latest = useRef(guard);
  latest.current = guard;
  useEffect(() => {
    if (window.top !== window) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onBack = (): void => {
      if (hasGuard()) return;
      if (closePopovers() || latest.current.closeView()) {
        addGuard();
        return;
      }
      if (backStopped.get()) {
        latest.current.leave();
        return;
      }
      backStopped.set(true);
      timer = setTimeout(() => backStopped.set(false), secondPressMs);
      addGuard();
    };
    const onClose = (event: BeforeUnloadEvent): void => {
      if (latest.current.accompanied) event.preventDefault();
    };
    addGuard();
    window.addEventListener('popstate', onBack);
    window.addEventListener('beforeunload', onClose);
    return () => {
      clearTimeout(timer);
      backStopped.set(false);
      window.removeEventListener('popstate', onBack);
      window.removeEventListener('beforeunload', onClose);
    };
  }, []);
}
