import { type ReactElement, type ReactNode, useState } from 'react';
import { ApiError, call, type Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { formatAgo, formatCount, formatTime } from '../format';
import { href } from '../router';
import { useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { type Shown, showSecrets } from '../ui/Secrets';
import { ErrorBox } from '../ui/states';
import { Table } from '../ui/Table';
import { useNow } from '../ui/useNow';
import { Status, Time } from '../ui/values';
import { adviseOverlap, type OldCredential, quietMs } from './overlapAdvice';

const overlaps = [
  [0, 'None: the old one stops now'],
  [3_600, '1 hour'],
  [86_400, '24 hours'],
  [259_200, '3 days'],
  [604_800, '7 days'],
] as const;

const defaultOverlap = 86_400;

/** Shows the new credentials of a rotation. */
const showRotated = (title: string, secrets: Shown['secrets']): void =>
  showSecrets({ title, hint: 'Put it into your backend before the overlap of the old one ends.', secrets });

/** The keys and the secret of a project, and whether the old ones can be ended. */
export function Keys({ project, onChanged }: { project: Schemas['Project']; onChanged: () => void }): ReactElement {
  const may = useMay();
  const path = { project_id: project.project_id };
  const keys = useGet('/projects/{project_id}/keys', { path });
  const changed = (): void => {
    keys.reload();
    onChanged();
  };
  const current = keys.data?.keys.find(({ status }) => status === 'active');
  const retiring = keys.data?.keys.find(({ status }) => status === 'retiring');
  return (
    <>
      <div className="stack">
        <div className="box-head">
          <h2 id="keys">API keys</h2>
          {may('POST /projects/{project_id}/keys/rotate') && !project.deleted_at && (
            <Rotate
              title="Rotate the API key"
              what="API key and Gateway secret"
              overlapping={retiring !== undefined}
              onRotated={(secrets) => showRotated('The new API key', secrets)}
              rotate={async (body) => {
                const { api_key, gateway_secret } = await call('post', '/projects/{project_id}/keys/rotate', { path, body });
                changed();
                return [
                  { name: 'API key', value: api_key },
                  { name: 'Gateway secret', value: gateway_secret },
                ];
              }}
            />
          )}
        </div>
        {keys.error && <ErrorBox error={keys.error} retry={keys.reload} />}
        {!keys.data && !keys.error && <Loading />}
        {keys.data && (
          <Table
            label="API keys"
            rows={keys.data.keys}
            keyOf={({ id }) => id}
            columns={[
              { head: 'API key', wide: true, cell: ({ api_key }) => <code>{api_key}</code> },
              {
                head: 'State',
                cell: ({ status }) =>
                  status === 'active' ? <Status tone="good">Current</Status> : <Status tone="warn">Old, in its overlap</Status>,
              },
              { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
              { head: 'Last used', cell: (key) => <LastUse apiKey={key} /> },
              {
                head: 'Stops working',
                end: true,
                cell: ({ overlap_ends_at }) => (overlap_ends_at ? <Time at={overlap_ends_at} /> : <span className="quiet">never</span>),
              },
            ]}
          />
        )}
      </div>
      {retiring && (
        <OverlapNotice
          project={project}
          slot="overlap"
          what="key pair"
          old={{
            rotatedAt: Date.parse(retiring.retiring_since ?? retiring.created_at),
            usedAt: retiring.last_used_at ? Date.parse(retiring.last_used_at) : null,
            callers: retiring.recent_callers ?? [],
            newCallers: current?.recent_callers ?? [],
            newUsedAt: current?.last_used_at ? Date.parse(current.last_used_at) : null,
          }}
          endsAt={retiring.overlap_ends_at}
        >
          {may('POST /projects/{project_id}/keys/revoke-overlap') && (
            <EndOverlap
              what="old key pair"
              onDone={changed}
              end={() =>
                call('post', '/projects/{project_id}/keys/revoke-overlap', { path }).then(() => 'The old key pair no longer works.')
              }
            />
          )}
        </OverlapNotice>
      )}
      <section className="box" aria-labelledby="secret">
        <div className="box-head">
          <h2 id="secret">Project secret</h2>
          {may('POST /projects/{project_id}/rotate-secret') && !project.deleted_at && (
            <Rotate
              title="Rotate the project secret"
              what="project secret"
              overlapping={project.secret_overlap_ends_at !== undefined}
              onRotated={(secrets) => showRotated('The new project secret', secrets)}
              rotate={async (body) => {
                const { project_secret } = await call('post', '/projects/{project_id}/rotate-secret', { path, body });
                changed();
                return [{ name: 'Project secret', value: project_secret }];
              }}
            />
          )}
        </div>
        <p className="quiet">It signs the webhooks that the project receives, and can sign calls of versions 3 and 4.</p>
      </section>
      {project.secret_overlap_ends_at && keys.data && (
        <OverlapNotice
          project={project}
          slot="overlap_secret"
          what="project secret"
          old={{
            ...secretUse,
            callers: keys.data.old_secret_callers ?? [],
            newCallers: keys.data.secret_callers ?? [],
          }}
          endsAt={project.secret_overlap_ends_at}
        >
          {may('POST /projects/{project_id}/revoke-secret-overlap') && (
            <EndOverlap
              what="old project secret"
              onDone={changed}
              end={() =>
                call('post', '/projects/{project_id}/revoke-secret-overlap', { path }).then(() => 'The old project secret no longer works.')
              }
            />
          )}
        </OverlapNotice>
      )}
    </>
  );
}

/** When a key was last used, and by whom if that is known. */
function LastUse({ apiKey: { status, last_used_at, last_used_by: by } }: { apiKey: Schemas['Key'] }): ReactElement {
  if (!last_used_at) return <span className="quiet">{status === 'retiring' ? 'not since the rotation' : 'never'}</span>;
  return (
    <span className="two-lines">
      <Time at={last_used_at} />
      {by && (
        <span className="small quiet">
          {by.address}, {by.user_agent || 'no user agent'}
        </span>
      )}
    </span>
  );
}

/** Shown when the server refuses a rotation that would end an overlap, and the dialog did not say so. */
const overlapInForce =
  'An earlier rotation is still in its overlap, so nothing was changed now. Close this dialog and open it again to see what another ' +
  'rotation would stop.';

interface RotateProps {
  title: string;
  what: string;
  overlapping: boolean;
  rotate: (body: Schemas['Rotation']) => Promise<Shown['secrets']>;
  onRotated: (secrets: Shown['secrets']) => void;
}

function Rotate({ title, what, overlapping, rotate, onRotated }: RotateProps): ReactElement {
  const [overlap, setOverlap] = useState(defaultOverlap);
  // For the first attempt only: a second one must not end the overlap that the first one has begun.
  const [force, setForce] = useState(overlapping);
  return (
    <ActionButton
      title={title}
      final={force || overlap === 0}
      onOpen={() => setForce(overlapping)}
      act={async () => {
        try {
          onRotated(await rotate({ overlap, force }));
        } catch (error) {
          setForce(false);
          throw error instanceof ApiError && error.code === 'overlap_in_force' ? error.saying(overlapInForce) : error;
        }
        return `There is a new ${what}.`;
      }}
    >
      <p>
        You receive a new {what}. The old one keeps working during the overlap, so that your backend can change over without failed
        requests.
      </p>
      <label className="field">
        <span>Overlap</span>
        <select value={overlap} onChange={(event) => setOverlap(Number(event.currentTarget.value))}>
          {overlaps.map(([seconds, text]) => (
            <option key={seconds} value={seconds}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {force && (
        <p className="wrong">
          An earlier rotation is still in its overlap. Rotating again stops the older {what} at once: clients that still use it are
          rejected.
        </p>
      )}
      {overlap === 0 && <p className="wrong">Clients that use the current {what} are rejected at once.</p>}
    </ActionButton>
  );
}

function EndOverlap({ what, end, onDone }: { what: string; end: () => Promise<string>; onDone: () => void }): ReactElement {
  return (
    <ActionButton title="End the overlap now" final act={end} onDone={onDone}>
      <p>The {what} stops working now. Every client that still uses it is rejected. Nobody can undo this.</p>
    </ActionButton>
  );
}

interface OverlapNoticeProps {
  project: Schemas['Project'];
  slot: 'overlap' | 'overlap_secret';
  what: string;
  old: OldCredential;
  endsAt: string | undefined;
  children: ReactNode;
}

/** The server does not count the uses of a project secret. */
const secretUse = { rotatedAt: null, usedAt: null, newUsedAt: null };

const checkClients = 'End the overlap when these clients have the new one, or no longer run.';

const checkBackend =
  'End the overlap only after you have checked that your backend has it, or that it signs its calls with the project secret.';

/** The clients that still use an old credential, and when it is safe to end its overlap. */
function OverlapNotice({ project, slot, what, old, endsAt, children }: OverlapNoticeProps): ReactElement {
  const now = useNow();
  const id = `overlap-notice-${slot}`;
  const { state, lastMs, safeAt, clients, unseen } = adviseOverlap(old, now);
  const unknown = old.rotatedAt === null;
  return (
    <section className={state === 'safe' ? 'box good' : 'box warning'} aria-labelledby={id}>
      <div className="box-head">
        <h2 id={id}>
          {state === 'safe' && `The old ${what} is unused: safe to end the overlap`}
          {state === 'idle' && `The old ${what} is unused, and the new one was never used`}
          {state === 'unseen' && `The old ${what} is unused, but ${formatCount(unseen, 'client')} did not use the new one yet`}
          {state === 'wait' && `Wait before you end the old ${what}`}
        </h2>
        {children}
      </div>
      <p>
        {lastMs !== null && `The old ${what} was last used ${formatAgo(lastMs, now)}. `}
        {lastMs === null && !unknown && `The old ${what} was not used since the rotation. `}
        {state === 'wait' &&
          old.newUsedAt !== null &&
          `If nobody uses it again, it is safe to end at ${formatTime(safeAt, now)}, after ${quietMs / 3_600_000} hours without use. `}
        {endsAt && `It stops by itself at ${formatTime(Date.parse(endsAt), now)}.`}
        {unknown && ' Receivers of webhooks need the new secret too. The server cannot see whether they have it.'}
        {!unknown &&
          (old.newUsedAt === null
            ? ` The new ${what} was not used yet. ${state === 'idle' ? checkBackend : 'Put it into your backend first.'}`
            : ` The new ${what} was last used ${formatAgo(Math.min(old.newUsedAt, now), now)}.`)}
        {state === 'unseen' && ` ${checkClients}`}
      </p>
      {clients.length > 0 && (
        <>
          <p className="quiet">
            Its clients, each with its last use. A client from before the rotation is listed until it uses the new {what}, because a nightly
            or weekly job may still have the old one:
          </p>
          <Table
            label={`Clients with the old ${what}`}
            rows={clients}
            keyOf={({ userAgent, address }) => [userAgent, address].join(' ')}
            columns={[
              { head: 'Client', wide: true, cell: ({ userAgent }) => userAgent || 'No user agent' },
              { head: 'From', cell: ({ address }) => <span className="nowrap">{address}</span> },
              { head: 'Old one used', end: true, cell: ({ lastAt }) => <Time at={lastAt} ago /> },
              {
                head: 'New one used',
                end: true,
                cell: ({ newAt }) => (newAt ? <Time at={newAt} ago /> : <span className="quiet">not yet</span>),
              },
            ]}
          />
          <p>
            <Link to={href('requests', null, { project: project.project_id, key_slot: slot })}>All API calls with the old {what}</Link>
          </p>
        </>
      )}
    </section>
  );
}
