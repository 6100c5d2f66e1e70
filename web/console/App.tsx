import { Component, type ReactElement, type ReactNode, useEffect, useLayoutEffect } from 'react';
import { useStore } from '../src/state/useStore';
import { SignIn } from './pages/SignIn';
import { href, navigate, readRoute, useAddress } from './router';
import { Shell } from './Shell';
import { CallerContext } from './state/context';
import { onSignInPage, returnToPage } from './state/returnPage';
import { loadCaller, rightsOf, session } from './state/session';
import { Announcements } from './ui/announce';
import { Loading } from './ui/List';
import { ShownSecrets } from './ui/Secrets';

export function App(): ReactElement {
  return (
    <>
      <Boundary>
        <Session />
      </Boundary>
      <Announcements />
      <ShownSecrets />
    </>
  );
}

function Session(): ReactElement {
  const now = useStore(session);
  const address = useAddress();
  const [pathname = '', search = ''] = address.split(/(?=\?)/);
  const route = readRoute({ pathname, search });
  const signedIn = now.is === 'in';
  useLayoutEffect(() => {
    if (!signedIn) return;
    if (onSignInPage()) navigate(href('overview'), { replace: true });
    returnToPage();
  }, [signedIn]);
  switch (now.is) {
    case 'unknown':
      return <Loading />;
    case 'unreachable':
      return <Unreachable message={now.message} />;
    case 'out':
      return <SignIn expired={now.expired} error={route?.page === 'sign-in' ? (route.query.error ?? null) : null} />;
    case 'in':
      return (
        <CallerContext.Provider value={now.caller}>
          <Shell key={rightsOf(now.caller)} route={route} />
        </CallerContext.Provider>
      );
  }
}

function Unreachable({ message }: { message: string }): ReactElement {
  useEffect(() => {
    const timer = setInterval(() => void loadCaller(), 5_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <main className="alone stack">
      <h1>The console cannot reach the server</h1>
      <p role="status">{message}</p>
      <button type="button" className="primary" onClick={() => void loadCaller()}>
        Try again
      </button>
    </main>
  );
}

/** Shows a way to continue when drawing fails. */
class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    return (
      <main className="alone stack">
        <h1>This page failed</h1>
        <p>Reload it. If it fails again, tell the operator which page it was. You can use the command line meanwhile.</p>
        <button type="button" className="primary" onClick={() => location.reload()}>
          Reload
        </button>
      </main>
    );
  }
}
