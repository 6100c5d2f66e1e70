import type { ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { App, type AppProps, Check, NoRoom } from './App';
import { ErrorBoundary } from './ui/ErrorBoundary';

/** Renders the page of a room. */
export const renderRoomPage = (props: AppProps): void =>
  render(
    <ErrorBoundary>
      <App {...props} />
    </ErrorBoundary>,
  );

/** Renders the page for an address that does not belong to a room. */
export const renderNotALinkPage = (props: Pick<AppProps, 'lazyScreens'>): void => render(<NoRoom {...props} />);

/** Renders the page of a connection check. */
export const renderCheckPage = (props: Parameters<typeof Check>[0]): void => render(<Check {...props} />);

function render(page: ReactElement): void {
  const container = document.getElementById('page');
  if (!container) throw new Error('index.html has no #page');
  container.replaceChildren();
  createRoot(container).render(page);
}
