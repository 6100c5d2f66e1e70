import { type ReactElement, useRef, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { useProjectName } from '../api/projects';
import { useGet, useList } from '../api/useGet';
import { formatCount, formatNumber } from '../format';
import { href } from '../router';
import { useChosenProject, useListable } from '../state/chosenProject';
import { useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { Filters, SelectFilter, TextFilter } from '../ui/Filters';
import { Link } from '../ui/Link';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { ProjectLink } from '../ui/ProjectLink';
import { Empty, ErrorBox, sentence } from '../ui/states';
import { Facts, Status, Time } from '../ui/values';
import { deliveryState, responseText } from './deliveries';
import { PeriodFilter } from './PeriodFilter';
import { type Period, readTime, zoned } from './times';
import { periodFilters, usePeriod } from './usePeriod';

/** The targets that fail or are paused, and the deliveries. */
export function Webhooks({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const { state, room_id, event_id, url, cursor } = query;
  const project = useChosenProject(query.project);
  const listable = useListable(project);
  const may = useMay();
  const nameOf = useProjectName();
  const period = usePeriod(query);
  const list = useRef<HTMLElement>(null);
  const webhooks = useList(
    '/webhooks',
    listable
      ? {
          query: {
            ...(project && { project_id: project }),
            ...(state && { state: state as Schemas['WebhookState'] }),
            ...(room_id && { room_id }),
            ...(event_id && { event_id }),
            ...(url && { url }),
            ...period,
            ...(cursor && { cursor }),
          },
        }
      : null,
  );
  const active = ['state', ...periodFilters, 'url', 'room_id', 'event_id'].filter((name) => query[name]);
  return (
    <>
      <PageHead title="Webhooks" actions={project && <ProjectActions project={project} />}>
        The events that were sent to the backends, and how they responded.
        {!project && may('POST /webhook-replays') && ' Choose a project to retry or replay its deliveries, or to send a test event.'}
      </PageHead>
      {listable && (
        <Targets
          project={project}
          onSeeDeliveries={() => {
            list.current?.focus({ preventScroll: true });
            list.current?.scrollIntoView();
          }}
        />
      )}
      <section className="stack" aria-label="List of deliveries" tabIndex={-1} ref={list}>
        <Filters active={active}>
          <SelectFilter
            name="state"
            label="State"
            value={state}
            options={[
              ['', 'Any'],
              ['pending', 'Pending, retrying or on hold'],
              ['delivered', 'Delivered'],
              ['failed', 'Failed'],
              ['gone', 'Target gone'],
            ]}
          />
          <PeriodFilter query={query} />
          <TextFilter name="url" label="Target URL begins with" value={url} placeholder="https://example.org" wide />
          <TextFilter name="room_id" label="Room ID" value={room_id} wide />
          <TextFilter name="event_id" label="Event ID (webhook-id)" value={event_id} wide />
        </Filters>
        <List
          label="Deliveries"
          resource={webhooks}
          rowsOf={(data) => data.webhooks}
          cursorOf={(data) => data.next_cursor}
          cursor={cursor}
          keyOf={({ delivery_id }) => delivery_id}
          columns={[
            { head: 'State', cell: (one) => <Status tone={deliveryState(one).tone}>{deliveryState(one).text}</Status> },
            {
              head: 'Event',
              cell: ({ delivery_id, type, replay }) => (
                <>
                  <Link className="row-link nowrap" to={href('webhooks', delivery_id, { project: query.project })}>
                    {type}
                  </Link>
                  {replay && <span className="quiet"> replay</span>}
                </>
              ),
            },
            { head: 'Target', wide: true, cell: ({ url }) => <span className="url">{url}</span> },
            !project && { head: 'Project', cell: ({ project_id }) => nameOf(project_id) },
            { head: 'Last response', cell: ({ last_status }) => responseText(last_status) },
            { head: 'Next attempt', end: true, cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
            { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
          empty={
            active.length > 0 ? (
              <Empty title="No delivery matches">
                <p>Choose other filters. Deliveries are deleted after the time of the setting --retention-deliveries.</p>
              </Empty>
            ) : (
              <NoDeliveries project={project} />
            )
          }
        />
      </section>
    </>
  );
}

/** How to receive webhooks, for those who may set their URL and for others. */
function NoDeliveries({ project }: { project: string | undefined }): ReactElement {
  const may = useMay();
  const what = 'Each event of a room is sent to the webhook URL of the room or, without one, of its project.';
  if (!may('PATCH /projects/{project_id}')) {
    return (
      <Empty title="No deliveries yet">
        <p>
          {what} An operator of this server can set the URL of the project, and your backend can set the URL of a room. See{' '}
          <a href="/docs/webhooks">Webhooks</a>.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No deliveries yet">
      <p>
        {what} Set the URL on{' '}
        <Link to={href('projects', project ?? null)}>{project ? 'the page of the project' : 'the page of a project'}</Link>, then send a
        test event here.
      </p>
    </Empty>
  );
}

/** The targets that fail or are paused. */
function Targets({ project, onSeeDeliveries }: { project: string | undefined; onSeeDeliveries: () => void }): ReactElement | null {
  const targets = useGet('/webhook-targets', { query: { ...(project && { project_id: project }), limit: 100 } });
  if (targets.error) return <ErrorBox error={targets.error} retry={targets.reload} />;
  if (!targets.data) return null;
  if (targets.data.targets.length === 0) return <p className="quiet">No target fails or is paused.</p>;
  return (
    <section aria-labelledby="targets">
      <h2 id="targets">
        Targets that fail or are paused{' '}
        <span className="quiet">
          {formatCount(targets.data.targets.length, 'target')}
          {targets.data.next_cursor && '; "parley webhook targets" lists more'}
        </span>
      </h2>
      {targets.data.targets.map((target) => (
        <Target
          key={`${target.project_id} ${target.url}`}
          target={target}
          project={project}
          onChanged={targets.reload}
          onSeeDeliveries={onSeeDeliveries}
        />
      ))}
    </section>
  );
}

interface TargetProps {
  target: Schemas['WebhookTarget'];
  /** The project that the page is about; undefined for all projects. */
  project: string | undefined;
  onChanged: () => void;
  /** Shows the list of deliveries, if it is on the same page. */
  onSeeDeliveries?: () => void;
}

/** A target that fails or is paused, with what can be done about it. */
export function Target({ target, project, onChanged, onSeeDeliveries }: TargetProps): ReactElement {
  const may = useMay();
  const { project_id, url, failures, failing_since, paused, paused_at, probe_at, notice } = target;
  return (
    <div className={paused ? 'box problem' : 'box warning'}>
      <div className="box-head">
        <div className="page-title">
          <h3 className="url">{url}</h3>
          <TargetState target={target} />
        </div>
        <div className="page-actions">
          <PauseOrResume projectId={project_id} url={url} target={target} onDone={onChanged} />
          {!paused && may('POST /webhook-retries') && (
            <ActionButton
              title="Retry now"
              onDone={onChanged}
              act={async () => {
                const { retried } = await call('post', '/webhook-retries', { body: { project_id, url } });
                return `${formatCount(retried, 'delivery is', 'deliveries are')} sent now.`;
              }}
            >
              <p>
                The pending deliveries to <strong className="url">{url}</strong> are sent now, in their order, instead of at their next
                attempt.
              </p>
            </ActionButton>
          )}
        </div>
      </div>
      <Facts
        rows={[
          !project && ['Project', <ProjectLink key="project" id={project_id} />],
          failures > 0 && ['Failures in a row', formatNumber(failures)],
          failures > 0 && ['Failing since', <Time key="since" at={failing_since} />],
          paused_at !== undefined && ['Paused since', <Time key="paused" at={paused_at} />],
          probe_at !== undefined && ['Next automatic attempt', <Time key="probe" at={probe_at} />],
        ]}
      />
      <p>
        {notice && `${sentence(notice)} `}
        <Link to={href('webhooks', null, { project: project_id, url })} onGo={onSeeDeliveries}>
          See the deliveries to URLs that begin with it
        </Link>
      </p>
    </div>
  );
}

/** Whether a target is paused or fails. */
export function TargetState({ target: { paused } }: { target: Schemas['WebhookTarget'] }): ReactElement {
  return <Status tone={paused ? 'bad' : 'warn'}>{paused ? 'Paused' : 'Failing'}</Status>;
}

interface PauseProps {
  projectId: string;
  url: string;
  onDone: () => void;
}

/** Resumes a target that is paused, and pauses one that the server still tries. target is undefined for one that works. */
export function PauseOrResume({ target, ...props }: PauseProps & { target: Schemas['WebhookTarget'] | undefined }): ReactElement {
  return (
    <>
      {target?.paused && <ResumeTarget {...props} />}
      {(!target?.paused || target.probe_at !== undefined) && <PauseTarget {...props} />}
    </>
  );
}

/** Sends the deliveries that wait for a target. */
function ResumeTarget({ projectId, url, onDone }: PauseProps): ReactElement | null {
  const may = useMay();
  if (!may('POST /projects/{project_id}/webhook-resume')) return null;
  return (
    <ActionButton
      title="Resume the target"
      onDone={onDone}
      act={async () => {
        await call('post', '/projects/{project_id}/webhook-resume', { path: { project_id: projectId }, body: { url } });
        return 'The target is tried now.';
      }}
    >
      <p>
        The waiting deliveries are sent to <strong className="url">{url}</strong> now, in their order. If the target fails again, it is
        paused again.
      </p>
    </ActionButton>
  );
}

/** Holds the deliveries to a target back until it is resumed. */
function PauseTarget({ projectId, url, onDone }: PauseProps): ReactElement | null {
  const may = useMay();
  if (!may('POST /projects/{project_id}/webhook-pause')) return null;
  return (
    <ActionButton
      title="Pause the target"
      className="secondary"
      onDone={onDone}
      act={async () => {
        await call('post', '/projects/{project_id}/webhook-pause', { path: { project_id: projectId }, body: { url } });
        return 'The target is paused. Its deliveries wait until the target is resumed.';
      }}
    >
      <p>
        The deliveries to <strong className="url">{url}</strong> wait, and the server does not try them, until the target is resumed. No
        event is lost.
      </p>
    </ActionButton>
  );
}

/** The deliveries that can be replayed. */
const replayable = [
  ['failed', 'Failed'],
  ['gone', 'Target gone'],
  ['', 'All that are not pending'],
] as const;

/** What can be done about the deliveries of a project, and a test event. */
function ProjectActions({ project }: { project: string }): ReactElement {
  const may = useMay();
  const nameOf = useProjectName();
  return (
    <>
      {may('POST /webhook-retries') && <RetryPending project={project} />}
      {may('POST /webhook-replays') && <Replay project={project} />}
      {may('POST /projects/{project_id}/webhook-test') && (
        <ActionButton
          title="Send a test event"
          act={async () => {
            await call('post', '/projects/{project_id}/webhook-test', { path: { project_id: project } });
            return 'The test event is on its way. It appears in the list.';
          }}
        >
          <p>
            An event <code>webhook.test</code> is sent to the webhook URL of <strong>{nameOf(project)}</strong>. It is about no room.
          </p>
        </ActionButton>
      )}
    </>
  );
}

/** Sends the pending deliveries of a project. */
function RetryPending({ project }: { project: string }): ReactElement {
  const nameOf = useProjectName();
  const { bounds, fields } = useBounds(false);
  return (
    <ActionButton
      title="Retry pending deliveries"
      act={async () => {
        const { retried } = await call('post', '/webhook-retries', { body: { project_id: project, ...bounds } });
        return `${formatCount(retried, 'delivery is', 'deliveries are')} sent now.`;
      }}
    >
      <p>
        The pending deliveries of <strong>{nameOf(project)}</strong> are sent now, in their order, instead of at their next attempt. Those
        to a paused target wait until it is resumed.
      </p>
      {fields}
    </ActionButton>
  );
}

/** Sends the deliveries of a project in a time span again. */
function Replay({ project }: { project: string }): ReactElement {
  const nameOf = useProjectName();
  const { bounds, fields } = useBounds(true);
  const [state, setState] = useState<(typeof replayable)[number][0]>('failed');
  return (
    <ActionButton
      title="Replay deliveries"
      act={async () => {
        const { enqueued } = await call('post', '/webhook-replays', { body: { project_id: project, ...bounds, ...(state && { state }) } });
        return `${formatCount(enqueued, 'delivery is', 'deliveries are')} sent again.`;
      }}
    >
      <p>
        Deliveries that <strong>{nameOf(project)}</strong> was sent in this time are sent again, with the same IDs and the header{' '}
        <code>webhook-replay</code>. Receivers that ignore IDs they have seen skip duplicates.
      </p>
      <label className="field">
        <span>Deliveries</span>
        <select value={state} onChange={(event) => setState(event.currentTarget.value as typeof state)}>
          {replayable.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {fields}
    </ActionButton>
  );
}

/** The fields of a dialog for a time span, and the bounds that they have. */
function useBounds(required: boolean): { bounds: Period; fields: ReactElement } {
  const [since, setSince] = useState('');
  const [before, setBefore] = useState('');
  const problem = (since && readTime(since)) || (before && readTime(before)) || null;
  const optional = !required && <span className="hint">optional</span>;
  return {
    bounds: { ...(since && { since: zoned(since) }), ...(before && { before: zoned(before) }) },
    fields: (
      <>
        <label className="field">
          <span>From {optional}</span>
          <input
            value={since}
            placeholder="2026-11-24 10:05"
            required={required}
            onChange={(event) => setSince(event.currentTarget.value)}
          />
        </label>
        <label className="field">
          <span>Until {optional}</span>
          <input
            value={before}
            placeholder="2026-11-24 12:00"
            required={required}
            onChange={(event) => setBefore(event.currentTarget.value)}
          />
        </label>
        <p className="wrong" role="alert">
          {problem}
        </p>
      </>
    ),
  };
}
