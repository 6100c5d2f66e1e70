import type { ReactElement } from 'react';
import { Store } from '../../src/state/store';
import { useStore } from '../../src/state/useStore';

const said = new Store<{ text: string; n: number }>({ text: '', n: 0 });
let timer: ReturnType<typeof setTimeout> | undefined;

const shownMs = 6_000;

/** Shows a text for some seconds and has screen readers read it. */
export function announce(text: string): void {
  said.set({ text, n: said.get().n + 1 });
  clearTimeout(timer);
  timer = setTimeout(() => said.set({ text: '', n: said.get().n }), shownMs);
}

export function Announcements(): ReactElement {
  const { text } = useStore(said);
  return (
    <div className="announcement" role="status">
      {text && <p>{text}</p>}
    </div>
  );
}
