import type { ReactElement } from 'react';
import { call, type Schemas } from '../api/client';
import { useProjectName } from '../api/projects';
import { useGet, useList } from '../api/useGet';
import { mayRevoke } from '../state/access';
import { useCaller, useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { Id } from '../ui/Copy';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Empty } from '../ui/states';
import { Tabs } from '../ui/Tabs';
import { Status, Time } from '../ui/values';
import { ChangeRole, NewCredential, SignInLink } from './Credential';
import { roleText } from './roles';
import { sessionState } from './sessionState';

type Query = Readonly<Record<string, string>>;

/** The users, the sessions of the console, and the management tokens. */
export function Team({ query }: { query: Query }): ReactElement {
  const may = useMay();
  const views = [
    may('GET /users') && (['', 'Users'] as const),
    may('GET /sessions') && (['sessions', 'Sessions and links'] as const),
    ['tokens', 'Tokens'] as const,
  ].filter((view) => view !== false);
  const current = views.some(([view]) => view === (query.view ?? '')) ? (query.view ?? '') : (views[0]?.[0] ?? '');
  return (
    <>
      <PageHead title="Team">Who may use this console and the management API, and with which rights.</PageHead>
      {views.length > 1 && <Tabs label="Kinds of access" current={current} tabs={views} />}
      {current === '' && <Users query={query} />}
      {current === 'sessions' && <Sessions query={query} />}
      {current === 'tokens' && <Tokens />}
    </>
  );
}

/** The role of a user or a credential, and its projects. */
function Rights({ role, project_ids }: { role: Schemas['TokenRole'] | undefined; project_ids: string[] }): ReactElement {
  const nameOf = useProjectName();
  return (
    <span className="two-lines">
      {role ? roleText[role].name : <span className="quiet">none</span>}{' '}
      {project_ids.length > 0 && <span className="small quiet">{project_ids.map(nameOf).join(', ')}</span>}
    </span>
  );
}

function Users({ query: { cursor } }: { query: Query }): ReactElement {
  const may = useMay();
  const users = useList('/users', { query: { ...(cursor && { cursor }) } });
  return (
    <section>
      {may('POST /users') && (
        <div className="actions">
          <NewCredential kind="user" onDone={users.reload} />
        </div>
      )}
      <List
        label="Users"
        oldestFirst
        resource={users}
        rowsOf={(data) => data.users}
        cursorOf={(data) => data.next_cursor}
        cursor={cursor}
        keyOf={({ user_id }) => user_id}
        columns={[
          {
            head: 'User',
            wide: true,
            cell: ({ name, email }) => (
              <span className="two-lines">
                <strong>{name}</strong> {name !== email && <span className="small quiet">{email}</span>}
              </span>
            ),
          },
          { head: 'Role', cell: (user) => <Rights {...user} /> },
          { head: 'OpenID', cell: ({ openid }) => (openid ? 'Used' : <span className="quiet">not yet</span>) },
          { head: 'Last sign-in', end: true, cell: ({ last_sign_in_at }) => <Time at={last_sign_in_at} /> },
          {
            head: 'Actions',
            end: true,
            cell: (user) =>
              may('PATCH /users/{user_id}') && (
                <div className="row-actions">
                  <SignInLink user={user} />
                  <ChangeRole user={user} onDone={users.reload} />
                  <ActionButton
                    title="Delete the user"
                    label="Delete"
                    final
                    onDone={users.reload}
                    act={async () => {
                      await call('delete', '/users/{user_id}', { path: { user_id: user.user_id } });
                      return 'The user is deleted.';
                    }}
                  >
                    <p>
                      <strong>{user.name}</strong> can no longer sign in, and the sessions of this user end at once. What the user did stays
                      in the audit log.
                    </p>
                  </ActionButton>
                </div>
              ),
          },
        ]}
        empty={
          <Empty title="No users yet">
            <p>
              A user signs in with a link that an owner creates here, or with your OpenID Connect provider, if there is one (
              <code>--oidc-issuer</code>). Without users, people sign in with management tokens.
            </p>
          </Empty>
        }
      />
    </section>
  );
}

const sessionKinds: Record<Schemas['Session']['kind'], string> = { token: 'Token', user: 'User', link: 'Link' };

function SessionState({ session }: { session: Schemas['Session'] }): ReactElement {
  const { tone, text } = sessionState(session);
  return <Status tone={tone}>{text}</Status>;
}

function Sessions({ query: { cursor } }: { query: Query }): ReactElement {
  const may = useMay();
  const caller = useCaller();
  const sessions = useList('/sessions', { query: { ...(cursor && { cursor }) } });
  return (
    <section>
      {may('POST /sign-in-links') && (
        <div className="actions">
          <NewCredential kind="link" onDone={sessions.reload} />
        </div>
      )}
      <List
        label="Sessions and links"
        resource={sessions}
        rowsOf={(data) => data.sessions}
        cursorOf={(data) => data.next_cursor}
        cursor={cursor}
        keyOf={({ session_id }) => session_id}
        columns={[
          { head: 'State', cell: (session) => <SessionState session={session} /> },
          {
            head: 'Who',
            wide: true,
            cell: ({ name, kind, in_use }) => (
              <span className="two-lines">
                <strong>{name}</strong>{' '}
                <span className="small quiet">
                  {sessionKinds[kind]}
                  {in_use && ', your session'}
                </span>
              </span>
            ),
          },
          { head: 'Role', cell: (session) => <Rights role={session.role} project_ids={session.project_ids} /> },
          { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
          { head: 'Last use', end: true, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          { head: 'Ends', end: true, cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            head: 'Actions',
            end: true,
            cell: (session) => {
              const { session_id, name, role, open_by, in_use } = session;
              if (!mayRevoke(caller, { role }) || !sessionState(session).canEnd) return null;
              return (
                <ActionButton
                  title={open_by ? 'Revoke the link' : 'End the session'}
                  label="End"
                  final
                  onDone={sessions.reload}
                  act={async () => {
                    await call('post', '/sessions/{session_id}/revoke', { path: { session_id } });
                    return open_by ? 'The link no longer works.' : 'The session has ended.';
                  }}
                >
                  <p>
                    {open_by ? 'The link for ' : 'The session of '}
                    <strong>{name}</strong> stops working at once, on every node.{in_use && ' It is your own: you are signed out.'}
                  </p>
                </ActionButton>
              );
            },
          },
        ]}
        empty={
          <Empty title="Nobody is signed in">
            <p>People appear here when they sign in.</p>
          </Empty>
        }
      />
    </section>
  );
}

function TokenState({ token: { revoked_at, expires_at } }: { token: Schemas['Token'] }): ReactElement {
  if (revoked_at) return <Status tone="idle">Revoked</Status>;
  if (expires_at && Date.parse(expires_at) <= Date.now()) return <Status tone="idle">Expired</Status>;
  return <Status tone="good">Live</Status>;
}

function Tokens(): ReactElement {
  const may = useMay();
  const tokens = useGet('/tokens', {});
  return (
    <section>
      {may('POST /tokens') && (
        <div className="actions">
          <NewCredential kind="token" onDone={tokens.reload} />
        </div>
      )}
      <List
        label="Management tokens"
        resource={tokens}
        rowsOf={(data) => [...data.tokens].reverse()}
        keyOf={({ token_id }) => token_id}
        columns={[
          { head: 'State', cell: (token) => <TokenState token={token} /> },
          {
            head: 'Name',
            wide: true,
            cell: ({ name, in_use }) => (
              <span className="two-lines">
                <strong>{name}</strong> {in_use && <span className="small quiet">you use it now</span>}
              </span>
            ),
          },
          { head: 'Role', cell: (token) => <Rights {...token} /> },
          { head: 'Token ID', cell: ({ token_id }) => <Id id={token_id} what="token ID" /> },
          { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
          { head: 'Last use', end: true, cell: ({ last_used_at }) => <Time at={last_used_at} /> },
          {
            head: 'Expires',
            end: true,
            cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : <span className="quiet">never</span>),
          },
          {
            head: 'Actions',
            end: true,
            cell: (token) =>
              may('POST /tokens/{token_id}/revoke') &&
              !token.revoked_at && (
                <ActionButton
                  title="Revoke the token"
                  label="Revoke"
                  final
                  onDone={tokens.reload}
                  act={async () => {
                    await call('post', '/tokens/{token_id}/revoke', { path: { token_id: token.token_id } });
                    return 'The token no longer works.';
                  }}
                >
                  <p>
                    <strong>{token.name}</strong> stops working at once, with the scripts and the sessions that use it. Nobody can undo
                    this.
                    {token.in_use && ' You use it yourself: you are signed out.'}
                  </p>
                </ActionButton>
              ),
          },
        ]}
        empty={
          <Empty title="No tokens" command="parley token create --name NAME --role operator">
            <p>
              Scripts call the management API with a token, and people can sign in to the console with one. An owner creates tokens here, or
              on the server with this command:
            </p>
          </Empty>
        }
      />
    </section>
  );
}
