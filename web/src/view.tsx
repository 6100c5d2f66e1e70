import type { ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { App, NoRoom, type AppProps } from './App';
import { Safety } from './ui/Safety';

/** Draws the page of a room. */
export const show = (props: AppProps): void =>
  draw(
    <Safety>
      <App {...props} />
    </Safety>,
  );

/** Draws the page for an address that is no room's. */
export const showNoRoom = (props: Pick<AppProps, 'later'>): void => draw(<NoRoom {...props} />);

function draw(page: ReactElement): void {
  const container = document.getElementById('page');
  if (!container) throw new Error('index.html has no #page');
  createRoot(container).render(page);
}
