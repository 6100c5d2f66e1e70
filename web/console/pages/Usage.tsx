import { type ReactElement, type ReactNode, useMemo, useState } from 'react';
import { ApiError, call, type Schemas } from '../api/client';
import { nameOf } from '../api/projectNames';
import { useProjects } from '../api/projects';
import { useGet } from '../api/useGet';
import { useMore } from '../api/useMore';
import { formatNumber, formatTime } from '../format';
import { href, setQuery } from '../router';
import { useCaller } from '../state/context';
import { Chart, type Series } from '../ui/Chart';
import { Filters, TextFilter } from '../ui/Filters';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { MoreButton } from '../ui/MoreButton';
import { PageHead } from '../ui/PageHead';
import { Empty, ErrorBox } from '../ui/states';
import { Table } from '../ui/Table';
import { downloadCSV } from './csv';
import { OrganizationChoice, useFirstOrganizations } from './OrganizationChoice';

type Day = Schemas['UsageDay'];

const dayFormat = /^\d{4}-\d{2}-\d{2}$/;
const readDay = (text: string): string | null => (dayFormat.test(text) ? null : 'Write a day such as 2026-11-24.');
const dayName = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const dayFormatShort = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const dayTick = (ms: number): string => dayFormatShort.format(ms);
const minutes = (n: number): string => formatNumber(Math.round(n * 10) / 10);

/** The usage of a project or of a whole organization, by day. */
export function Usage({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const { role } = useCaller();
  const projects = useProjects();
  const project = query.project ?? (role === 'integrator' ? projects[0]?.project_id : undefined);
  const organizations = useFirstOrganizations(role !== 'integrator');
  const listed = organizations.data?.organizations ?? [];
  const organization = project ? undefined : (query.organization ?? listed[0]?.organization_id);
  const { from, to } = query;
  const usage = useGet(
    '/usage',
    project || organization
      ? {
          query: {
            by: 'day',
            ...(project ? { project_id: project } : { organization_id: organization ?? '' }),
            ...(from && { from }),
            ...(to && { to }),
          },
        }
      : null,
  );
  const { data } = usage;
  const noOrganization = role !== 'integrator' && !project && organizations.data?.organizations.length === 0;
  return (
    <>
      <PageHead
        title="Usage"
        actions={
          data && (
            <button
              type="button"
              className="secondary"
              onClick={() => downloadCSV(`usage-${data.project_id ?? data.organization_id}-${data.from}-${data.to}.csv`, csvRows(data))}
            >
              Download CSV
            </button>
          )
        }
      >
        Participant minutes, sessions and peaks by day in UTC. {data && `Counted until ${formatTime(Date.parse(data.as_of))}.`}
      </PageHead>
      <Filters active={['from', 'to'].filter((name) => query[name])}>
        {!project && organizations.data && listed.length > 1 && (
          <div className={organizations.data.next_cursor ? 'finder-row' : 'filter'}>
            <OrganizationChoice
              label="Organization"
              first={organizations.data}
              value={organization}
              onPick={(id) => setQuery({ organization: id })}
            />
          </div>
        )}
        <TextFilter name="from" label="First day" value={from} placeholder="2026-11-01" check={readDay} />
        <TextFilter name="to" label="Last day" value={to} placeholder="2026-11-30" check={readDay} />
        <div className="presets">
          {[7, 30, 90].map((days) => (
            <button
              key={days}
              type="button"
              className="plain"
              onClick={() => setQuery({ from: dayName(Date.now() - (days - 1) * 86_400_000), to: undefined })}
            >
              {days} days
            </button>
          ))}
        </div>
      </Filters>
      {usage.error && <ErrorBox error={usage.error} retry={usage.reload} />}
      {organizations.error && <ErrorBox error={organizations.error} retry={organizations.reload} />}
      {noOrganization && (
        <Empty title="No organizations yet">
          <p>
            Usage is counted for an organization. <Link to={href('organizations')}>Create one</Link>, then a project in it.
          </p>
        </Empty>
      )}
      {!data && !usage.error && !organizations.error && !noOrganization && <Loading />}
      {data && (
        <Report report={data}>
          {organization && <UsageByProject key={`${organization} ${from} ${to}`} query={{ organization_id: organization, from, to }} />}
        </Report>
      )}
    </>
  );
}

/** The figures of a period: the sums, the charts, then the children, then a table of the days. */
function Report({ report, children }: { report: Schemas['UsageReport']; children: ReactNode }): ReactElement {
  const { days = [] } = report;
  const isEmpty = report.participant_minutes === 0 && report.rooms_created === 0 && report.sessions === 0;
  const times = useMemo(() => days.map(({ date }) => Date.parse(date) / 1000), [days]);
  const spent = useMemo<Series[]>(
    () => [{ label: 'Participant minutes', values: days.map((day) => day.participant_minutes), bars: true, color: '--accent' }],
    [days],
  );
  const peaks = useMemo<Series[]>(
    () => [
      { label: 'Most people at the same time', values: days.map((day) => day.peak_participants), color: '--speaking' },
      { label: 'Rooms created', values: days.map((day) => day.rooms_created), color: '--quiet' },
    ],
    [days],
  );
  return (
    <>
      <dl className="figures">
        <Figure name="Participant minutes" value={minutes(report.participant_minutes)} unit="min" />
        <Figure name="In audio rooms" value={minutes(report.audio_minutes)} unit="min" />
        <Figure name="In video rooms" value={minutes(report.video_minutes)} unit="min" />
        <Figure name="Rooms created" value={formatNumber(report.rooms_created)} unit="rooms" />
        <Figure name="Sessions" value={formatNumber(report.sessions)} unit="of rooms" />
        <Figure name="Peak" value={formatNumber(report.peak_participants)} unit="people at once" />
      </dl>
      {days.length > 1 && !isEmpty && (
        <div className="columns">
          <section className="box" aria-label="Minutes by day">
            <Chart
              label={`Participant minutes of each day from ${report.from} to ${report.to}`}
              times={times}
              series={spent}
              nameTime={dayName}
              nameTick={dayTick}
              utc
            />
          </section>
          <section className="box" aria-label="Peaks by day">
            <Chart
              label={`Peaks and rooms of each day from ${report.from} to ${report.to}`}
              times={times}
              series={peaks}
              nameTime={dayName}
              nameTick={dayTick}
              utc
            />
          </section>
        </div>
      )}
      {children}
      {isEmpty ? (
        <Empty title="No usage in this time">
          <p>Usage appears a few seconds after people were in a room.</p>
        </Empty>
      ) : (
        <Table<Day>
          label="Usage by day"
          numeric
          rows={[...days].reverse()}
          keyOf={({ date }) => date}
          columns={[
            { head: 'Day (UTC)', cell: ({ date }) => <span className="nowrap">{date}</span> },
            { head: 'Minutes', end: true, cell: (day) => minutes(day.participant_minutes) },
            { head: 'Audio', end: true, cell: (day) => minutes(day.audio_minutes) },
            { head: 'Video', end: true, cell: (day) => minutes(day.video_minutes) },
            { head: 'Rooms', end: true, cell: (day) => formatNumber(day.rooms_created) },
            { head: 'Sessions', end: true, cell: (day) => formatNumber(day.sessions) },
            { head: 'Peak', end: true, cell: (day) => formatNumber(day.peak_participants) },
          ]}
        />
      )}
    </>
  );
}

/** The number of projects whose usage one call computes. */
const projectsPageSize = 20;

interface UsageByProjectProps {
  query: { organization_id: string; from: string | undefined; to: string | undefined };
}

/** How much each project of an organization has used. */
function UsageByProject({ query: { organization_id, from, to } }: UsageByProjectProps): ReactElement | null {
  const query = { organization_id, by: 'project' as const, limit: projectsPageSize, ...(from && { from }), ...(to && { to }) };
  const list = useMore('/usage', { query });
  const { first } = list;
  const rows = [first.data, ...list.rest].flatMap((page) => page?.projects ?? []);
  if (first.data && rows.length === 0) return null;
  return (
    <section aria-labelledby="by-project">
      <div className="box-head">
        <h2 id="by-project">By project</h2>
        {rows.length > 0 && (
          <DownloadProjects
            name={`usage-by-project-${organization_id}-${first.data?.from}-${first.data?.to}.csv`}
            read={(cursor) => call('get', '/usage', { query: { ...query, limit: 100, ...(cursor && { cursor }) } })}
          />
        )}
      </div>
      <p className="quiet">The figures above do not contain test projects. They contain deleted projects, which are not in this list.</p>
      {first.error && <ErrorBox error={first.error} retry={first.reload} />}
      {!first.data && !first.error && <Loading />}
      {rows.length > 0 && (
        <Table
          label="Usage by project"
          numeric
          rows={rows}
          keyOf={({ project_id }) => project_id}
          columns={[
            {
              head: 'Project',
              wide: true,
              cell: (row) => (
                <Link className="row-link" to={href('usage', null, { project: row.project_id, from, to })}>
                  {nameOf(row)}
                </Link>
              ),
            },
            { head: 'Minutes', end: true, cell: (row) => minutes(row.participant_minutes) },
            { head: 'Audio', end: true, cell: (row) => minutes(row.audio_minutes) },
            { head: 'Video', end: true, cell: (row) => minutes(row.video_minutes) },
            { head: 'Rooms', end: true, cell: (row) => formatNumber(row.rooms_created) },
            { head: 'Sessions', end: true, cell: (row) => formatNumber(row.sessions) },
            { head: 'Peak', end: true, cell: (row) => formatNumber(row.peak_participants) },
          ]}
        />
      )}
      {list.error && <ErrorBox error={list.error} retry={list.retry} />}
      <MoreButton list={list}>Show more projects</MoreButton>
    </section>
  );
}

interface DownloadProps {
  /** The name of the file. */
  name: string;
  /** Reads a page of the usage of all projects. */
  read: (cursor: string | undefined) => Promise<Schemas['UsageReport']>;
}

/** Downloads the usage of all projects of an organization, also of those that the page does not show yet. */
function DownloadProjects({ name, read }: DownloadProps): ReactElement {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const download = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      const rows: Schemas['UsageOfProject'][] = [];
      let cursor: string | undefined;
      do {
        const page = await read(cursor);
        rows.push(...(page.projects ?? []));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      downloadCSV(name, csvProjects(rows));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <>
      {error && <ErrorBox error={error} />}
      <button type="button" className="secondary" aria-disabled={busy} onClick={() => void download()}>
        Download CSV by project
      </button>
    </>
  );
}

/** A large number with its name and its unit. */
export function Figure({ name, value, unit, to }: { name: string; value: string; unit: string; to?: ReactElement }): ReactElement {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>
        <strong>{to ?? value}</strong> <span className="small quiet">{unit}</span>
      </dd>
    </div>
  );
}

/** What a day and a project of a report have in common. */
type Figures = Pick<Day, 'participant_minutes' | 'audio_minutes' | 'video_minutes' | 'rooms_created' | 'sessions' | 'peak_participants'>;

const figureNames: readonly (keyof Figures)[] = [
  'participant_minutes',
  'audio_minutes',
  'video_minutes',
  'rooms_created',
  'sessions',
  'peak_participants',
];

const figuresOf = (row: Figures): number[] => figureNames.map((name) => row[name]);

const csvRows = ({ days = [] }: Schemas['UsageReport']): (string | number)[][] => [
  ['date', ...figureNames],
  ...days.map((day) => [day.date, ...figuresOf(day)]),
];

const csvProjects = (rows: Schemas['UsageOfProject'][]): (string | number)[][] => [
  ['project_id', 'name', 'test', ...figureNames],
  ...rows.map((row) => [row.project_id, row.name, String(row.test), ...figuresOf(row)]),
];
