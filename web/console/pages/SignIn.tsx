import { type FormEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { forgetPage, keepPage, onSignInPage } from '../state/returnPage';
import { type Failure, session, signIn, stillSignedIn } from '../state/session';
import { announce } from '../ui/announce';
import { CodeBlock } from '../ui/Copy';
import { sentence } from '../ui/states';

/** The path with which the server starts a sign-in with OpenID Connect. */
const openidStart = '/console/openid/start';

/** Reads the code of a one-time link from the fragment, which no server sees, and removes it from the address. */
function takeCode(): string | null {
  const code = onSignInPage() ? new URLSearchParams(location.hash.slice(1)).get('code') : null;
  if (code) history.replaceState(null, '', location.pathname);
  return code;
}

/** Whether the address says how somebody signs in: with a link, or with OpenID Connect, which failed. */
export const signsIn = (): boolean =>
  onSignInPage() && (new URLSearchParams(location.hash.slice(1)).has('code') || new URLSearchParams(location.search).has('error'));

interface Props {
  /** Whether the person was signed in before. */
  expired: boolean;
  /** The code of a failed sign-in with OpenID Connect. */
  error: string | null;
}

/** The page that is shown until somebody is signed in. Then the page that was asked for appears. */
export function SignIn({ expired, error }: Props): ReactElement {
  const [methods, setMethods] = useState<Schemas['SignInMethods'] | null>(null);
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(error && openidProblem(error));
  const [tokenWrong, setTokenWrong] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const enter = async (credential: { token: string } | { code: string }): Promise<void> => {
    setBusy(true);
    setProblem(null);
    setTokenWrong(false);
    forgetPage();
    const failure = await signIn(credential);
    if (failure === null) return;
    // A person who opens the same link again needs no other one.
    if ('code' in credential && (await stillSignedIn())) {
      announce(sayStillIn(failure));
      return;
    }
    setBusy(false);
    const isUnknown = 'token' in credential && failure.code === 'unauthorized';
    setTokenWrong(isUnknown || failure.code === 'token_revoked' || failure.code === 'token_expired');
    setProblem(
      isUnknown
        ? 'This server does not know this management token. Copy the whole token again, or ask an owner to create another one.'
        : failure.message,
    );
  };
  useEffect(() => {
    document.title = 'Sign in · Parley console';
    heading.current?.focus();
    call('get', '/sign-in-methods', {}).then(setMethods, () => setMethods({ methods: ['token', 'link'] }));
    const open = (): void => {
      const code = takeCode();
      if (code) void enter({ code });
    };
    open();
    // Another link in the address of this page changes only the fragment, so the page stays.
    window.addEventListener('hashchange', open);
    return () => window.removeEventListener('hashchange', open);
  }, []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (busy) return;
    if (token.trim() !== '') {
      void enter({ token: token.trim() });
      return;
    }
    setTokenWrong(true);
    setProblem('Enter a management token.');
  };
  return (
    <main className="alone stack">
      <p className="brand">Parley console</p>
      <h1 ref={heading} tabIndex={-1}>
        Sign in
      </h1>
      {expired && !problem && <p>Your session has ended. Sign in again to return to this page.</p>}
      {problem && (
        <p className="box problem" role="alert">
          {sentence(problem)}
        </p>
      )}
      {methods?.methods.includes('openid') && (
        <>
          <a className="primary as-button" href={openidStart} onClick={keepPage}>
            Sign in with {methods.openid_name || 'OpenID Connect'}
          </a>
          <p className="or quiet">or</p>
        </>
      )}
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>Management token</span>
          <input
            type="password"
            value={token}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={tokenWrong}
            onChange={(event) => {
              setToken(event.currentTarget.value);
              setTokenWrong(false);
            }}
          />
        </label>
        <button type="submit" className="primary" aria-disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <details>
        <summary>I have no token</summary>
        <div className="stack">
          <p>On the machine of the server, this prints a link that signs you in once:</p>
          <CodeBlock text="parley console" what="command" />
          <p>An owner can also create a token, with the rights that you need:</p>
          <CodeBlock text="parley token create --name NAME --role operator" what="command" />
          <p>If you build on this service, ask its operator for a portal link to your project, which parley portal prints.</p>
        </div>
      </details>
    </main>
  );
}

/** Says that a link did not work for a person who is signed in, and as whom. */
function sayStillIn({ code, message }: Failure): string {
  if (code === 'link_not_valid') return 'You are still signed in. The link was not used.';
  const now = session.get();
  return `You are signed in${now.is === 'in' ? ` as ${now.caller.name}` : ''}. ${sentence(message)}`;
}

/** Explains why a sign-in with OpenID Connect failed. */
function openidProblem(code: string): string {
  switch (code) {
    case 'openid_refused':
      return 'Your OpenID Connect provider did not sign you in. Try again, or ask the person who manages it.';
    case 'openid_expired':
      return 'The sign-in took too long, or was started in another tab. Try again.';
    case 'not_a_user':
      return 'Your account at the OpenID Connect provider may not use this console. Ask an owner to add you under Team.';
    case 'email_not_verified':
      return 'Your OpenID Connect provider has not verified your email address. Verify it there, then try again.';
    case 'email_not_allowed':
      return 'Your email address may not sign in with OpenID Connect. Ask the person who runs this server to add it to --oidc-allow.';
    case 'other_account':
      return 'Another account at the OpenID Connect provider already uses your email address here. Ask an owner to delete the user and to add you again.';
    default:
      return `The sign-in with your OpenID Connect provider failed (${code.slice(0, 60)}). Try again. If it fails again, the log of the server has the reason.`;
  }
}
