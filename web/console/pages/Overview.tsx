import { type ReactElement, useMemo } from 'react';
import type { Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { formatCount, formatNumber, formatTime, formatVersion } from '../format';
import { href } from '../router';
import { useChosenProject, useListable } from '../state/chosenProject';
import { Chart, type Series } from '../ui/Chart';
import { CodeBlock } from '../ui/Copy';
import { FirstCall } from '../ui/FirstCall';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { ProjectLink } from '../ui/ProjectLink';
import { ErrorBox, sentence } from '../ui/states';
import { Table } from '../ui/Table';
import { Status, Time, type Tone, WithTimes } from '../ui/values';
import { Figure } from './Usage';
import { Target } from './Webhooks';

/** The overview of the live rooms, the failures and the findings. */
export function Overview({ project: chosen }: { project: string | undefined }): ReactElement {
  const project = useChosenProject(chosen);
  const listable = useListable(project);
  const overview = useGet('/overview', listable ? { query: { ...(project && { project_id: project }) } } : null);
  const { data } = overview;
  return (
    <>
      <PageHead title="Overview">
        {data ? (
          <>
            As of <Time at={data.at} />
          </>
        ) : (
          'What is live, what fails, and what needs attention.'
        )}
      </PageHead>
      {overview.error && <ErrorBox error={overview.error} retry={overview.reload} />}
      {!data && !overview.error && <Loading />}
      {data && <State overview={data} project={project} onChanged={overview.reload} />}
    </>
  );
}

interface StateProps {
  overview: Schemas['Overview'];
  project: string | undefined;
  onChanged: () => void;
}

function State({ overview, project, onChanged }: StateProps): ReactElement {
  const { live_rooms, participants, calls, nodes, findings } = overview;
  const { failing_webhook_targets: targets, failing_webhook_target_count: targetCount } = overview;
  const total = calls.accepted + calls.rejected;
  const quiet = live_rooms === 0 && total === 0 && overview.hours.every(({ rooms }) => rooms === 0);
  return (
    <>
      {quiet && <FirstSteps />}
      {findings.length > 0 && <Findings findings={findings} />}
      <dl className="figures">
        <Figure
          name="Live rooms"
          value=""
          unit="rooms with people"
          to={<Link to={href('rooms', null, { project, state: 'active' })}>{formatNumber(live_rooms)}</Link>}
        />
        <Figure name="People in them" value={formatNumber(participants)} unit="people now" />
        {calls.recorded && (
          <>
            <Figure
              name="Accepted API calls"
              value=""
              unit="in the last hour"
              to={<Calls n={calls.accepted} since={calls.since} project={project} status="2xx" />}
            />
            <Figure
              name="Rejected API calls"
              value=""
              unit={total > 0 ? `last hour, ${formatNumber(Math.round((calls.rejected / total) * 1000) / 10)} %` : 'in the last hour'}
              to={<Calls n={calls.rejected} since={calls.since} project={project} status="rejected" />}
            />
          </>
        )}
        {nodes && (
          <Figure
            name="Nodes"
            value={formatNumber(nodes.count)}
            unit={nodes.versions.length === 1 ? `of ${formatVersion(nodes.versions[0] ?? '')}` : `of ${nodes.versions.length} versions`}
          />
        )}
      </dl>
      {targets.length > 0 && <FailingTargets targets={targets} count={targetCount} project={project} onChanged={onChanged} />}
      <div className="columns">
        <Hours hours={overview.hours} ofAll={overview.project_id === undefined} />
        <Connections types={overview.connection_types} />
      </div>
      {calls.most_rejected && calls.most_rejected.length > 0 && <MostRejected projects={calls.most_rejected} since={calls.since} />}
    </>
  );
}

/** How many failing targets the overview shows. The page of the webhooks has all of them. */
const shownTargets = 3;

interface FailingTargetsProps {
  targets: Schemas['WebhookTarget'][];
  /** The number of all of them. */
  count: number;
  project: string | undefined;
  onChanged: () => void;
}

/** The first of the targets that fail, in front of the charts, because somebody has to repair them. */
function FailingTargets({ targets, count, project, onChanged }: FailingTargetsProps): ReactElement {
  return (
    <section aria-labelledby="failing">
      <h2 id="failing">Webhook targets that fail or are paused</h2>
      {targets.slice(0, shownTargets).map((target) => (
        <Target key={`${target.project_id} ${target.url}`} target={target} project={project} onChanged={onChanged} />
      ))}
      {count > shownTargets && (
        <p>
          <Link to={href('webhooks', null, { project })}>All {formatNumber(count)} targets that fail or are paused</Link>
        </p>
      )}
    </section>
  );
}

interface CallsProps {
  n: number;
  since: string;
  project: string | undefined;
  status: string;
}

/** Returns the address of the API calls that the overview counts. */
const callsSince = (project: string, status: string, since: string): string =>
  href('requests', null, { project, status, version: 'backend', from: since });

/** A number of API calls. Those of one project are a list; there is none of all projects. */
function Calls({ n, since, project, status }: CallsProps): ReactElement {
  if (!project) return <>{formatNumber(n)}</>;
  return <Link to={callsSince(project, status, since)}>{formatNumber(n)}</Link>;
}

/** The projects whose API calls are rejected most. */
function MostRejected({ projects, since }: { projects: Schemas['ProjectCalls'][]; since: string }): ReactElement {
  return (
    <section aria-labelledby="rejected">
      <h2 id="rejected">Most rejected API calls in the last hour</h2>
      <Table
        label="Projects with the most rejected API calls"
        rows={projects}
        keyOf={({ project_id }) => project_id}
        columns={[
          {
            head: 'Project',
            wide: true,
            cell: ({ project_id }) => <ProjectLink className="row-link" id={project_id} to={callsSince(project_id, 'rejected', since)} />,
          },
          { head: 'Rejected', end: true, cell: ({ rejected }) => formatNumber(rejected) },
          { head: 'Accepted', end: true, cell: ({ accepted }) => formatNumber(accepted) },
        ]}
      />
    </section>
  );
}

const levels: Record<Schemas['Finding']['level'], { tone: Tone; text: string }> = {
  error: { tone: 'bad', text: 'Problem' },
  warning: { tone: 'warn', text: 'Warning' },
  note: { tone: 'busy', text: 'Note' },
};

function Findings({ findings }: { findings: Schemas['Finding'][] }): ReactElement {
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">Needs attention</h2>
      <ul className="box findings">
        {findings.map(({ id, level, text, action, commands, project_id, nodes }) => (
          <li key={`${id} ${project_id ?? ''} ${text}`}>
            <Status tone={levels[level].tone}>{levels[level].text}</Status>
            <div>
              <p>
                <strong>
                  <WithTimes text={sentence(text)} />
                </strong>{' '}
                {project_id && (
                  <ProjectLink
                    id={project_id}
                    to={id.startsWith('webhook_') ? href('webhooks', null, { project: project_id }) : undefined}
                  />
                )}
              </p>
              {nodes && (
                <p className="quiet">
                  On <Link to={href('nodes')}>{nodes.length === 1 ? 'node' : 'nodes'}</Link> <code>{nodes.join(', ')}</code>
                </p>
              )}
              <p className="quiet">{sentence(action)}</p>
              {/* For a project, the linked page has the buttons. */}
              {!project_id && commands?.map((command) => <CodeBlock key={command} text={command} what="command" />)}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The day so far: how many minutes people were in rooms, and the most people at the same time. */
function Hours({ hours, ofAll }: { hours: Schemas['OverviewHour'][]; ofAll: boolean }): ReactElement {
  const times = useMemo(() => hours.map(({ hour }) => Date.parse(hour) / 1000), [hours]);
  const series = useMemo<Series[]>(
    () => [
      { label: 'Participant minutes by hour', values: hours.map((one) => one.participant_minutes), bars: true, color: '--accent' },
      { label: 'Most people at the same time', values: hours.map((one) => one.peak_participants), color: '--speaking' },
    ],
    [hours],
  );
  const sum = (of: (hour: Schemas['OverviewHour']) => number): number => Math.round(hours.reduce((n, hour) => n + of(hour), 0));
  const minutes = formatCount(
    sum((hour) => hour.participant_minutes),
    'participant minute',
  );
  const rooms = formatCount(
    sum((hour) => hour.rooms),
    'room',
  );
  const people = formatCount(Math.max(0, ...hours.map((hour) => hour.peak_participants)), 'person', 'people');
  return (
    <section className="box" aria-labelledby="day">
      <h2 id="day">Last 24 hours</h2>
      <p className="quiet">
        {minutes}, {rooms} created, at most {people} at the same time.
        {/* They are among the live rooms. */}
        {ofAll && ' Test projects are not counted here.'}
      </p>
      <Chart
        label="Participant minutes and most people of each of the last 24 hours"
        times={times}
        series={series}
        height={180}
        nameTime={nameHour}
        nameTick={nameHourTick}
      />
    </section>
  );
}

const hourTick = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const nameHourTick = (ms: number): string => hourTick.format(ms);
const nameHour = (ms: number): string => formatTime(ms);

/** How the media of the connected people reach the server. */
function Connections({ types }: { types: Schemas['ConnectionTypes'] }): ReactElement {
  const total = types.udp + types.tcp + types.turn + types.unknown;
  const rows = [
    ['UDP', types.udp, 'the direct way, best quality'],
    ['TCP', types.tcp, 'usually because a network blocks UDP'],
    ['TURN', types.turn, 'through a relay'],
    ...(types.unknown > 0 ? ([['Unknown', types.unknown, 'joined through an earlier version']] as const) : []),
  ] as const;
  return (
    <section className="box" aria-labelledby="connections">
      <h2 id="connections">How people are connected</h2>
      {total === 0 ? (
        <p className="quiet">Nobody is connected now.</p>
      ) : (
        <ul className="shares">
          {rows.map(([name, n, meaning]) => (
            <li key={name}>
              <span>
                <strong>{name}</strong> <span className="small quiet">{meaning}</span>
              </span>
              <span>
                {formatCount(n, 'person', 'people')}, {Math.round((n / total) * 100)} %
              </span>
              <span className="share" aria-hidden="true" style={{ '--to': n / total }} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function FirstSteps(): ReactElement {
  return (
    <section className="box" aria-labelledby="first">
      <h2 id="first">Nothing has happened yet</h2>
      <FirstCall />
    </section>
  );
}
