import type { ReactElement } from 'react';
import type { Schemas } from '../api/client';
import { useProjectName, useProjects } from '../api/projects';
import { useList } from '../api/useGet';
import { formatDuration, formatNumber } from '../format';
import { href, isFirstPage } from '../router';
import { useCaller, useMay } from '../state/context';
import { Filters, SelectFilter, TextFilter } from '../ui/Filters';
import { FirstCall } from '../ui/FirstCall';
import { Link } from '../ui/Link';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Empty } from '../ui/states';
import { Tabs } from '../ui/Tabs';
import { Status, Time, toneOfStatus } from '../ui/values';
import { CauseCounts } from './CauseCounts';
import { callSlotText, causeSuggestions, causesCommand, causeText, onlyRejected, versions, versionText } from './causes';
import { PeriodFilter } from './PeriodFilter';
import { spans } from './times';
import { periodFilters, usePeriod } from './usePeriod';

const filters = ['status', 'cause', 'route', 'request_id', ...periodFilters];
/** Filters of the calls of one project, which have no controls without one. */
const projectFilters = ['version', 'key_slot'];
const anonymousFilters = ['address', 'cause', 'version', ...periodFilters];

const versionOptions = [['', 'All'], ...versions] as const;
const callVersionOptions = [['', 'All'], ['backend', 'Versions 3 to 5'], ...versions] as const;

/** The recorded API calls, with the true cause of each rejected one. */
export function Requests({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const may = useMay();
  const { role } = useCaller();
  const anonymous = query.view === 'anonymous' && may('GET /rejected-calls');
  return (
    <>
      <PageHead title="Requests">
        {anonymous
          ? 'Rejected API calls that named no project, such as those with an unknown API key, counted by day and address.'
          : query.project || role === 'integrator'
            ? 'The API calls of this project, with the cause of each rejected call.'
            : query.request_id
              ? 'The API calls with this request ID in all projects.'
              : 'The API calls of operators. Choose a project to see the API calls of its backend, or search all projects for a request ID.'}
      </PageHead>
      {may('GET /rejected-calls') && (
        <Tabs
          label="Kinds of API calls"
          current={anonymous ? 'anonymous' : ''}
          tabs={[
            ['', 'API calls'],
            ['anonymous', 'Without a project'],
          ]}
        />
      )}
      {anonymous ? <Anonymous query={query} /> : <Calls query={query} />}
    </>
  );
}

function Calls({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const { role } = useCaller();
  const projects = useProjects();
  const { project, status, cause, version, key_slot, route, request_id, cursor } = query;
  const project_id = project ?? (role === 'integrator' ? projects[0]?.project_id : undefined);
  const nameOf = useProjectName();
  const period = usePeriod(query);
  const slot = project_id ? (key_slot as Schemas['CallKeySlot'] | undefined) : undefined;
  // One page is both listed and counted, so that both show the same API calls.
  const counted = Boolean(project_id) && onlyRejected(query);
  const matching = {
    ...(project_id && { project_id }),
    ...(status && { status }),
    ...(cause && { cause }),
    ...(project_id && version && { version }),
    ...(slot && { key_slot: slot }),
    ...(route && { route }),
    ...(request_id && { request_id }),
    ...period,
  };
  const calls = useList(
    '/calls',
    role === 'integrator' && !project_id ? null : { query: { ...matching, ...(counted && { limit: 100 }), ...(cursor && { cursor }) } },
  );
  const active = [...filters, ...(project_id ? projectFilters : [])].filter((name) => query[name]);
  return (
    <>
      <Filters active={active}>
        <SelectFilter
          name="status"
          label="Status"
          value={status}
          options={[
            ['', 'Any'],
            ['2xx', '2xx accepted'],
            ['rejected', 'All rejected'],
            ['4xx', '4xx rejected'],
            ['5xx', '5xx failed'],
            ['401', '401 unauthorized'],
            ['429', '429 too many'],
          ]}
        />
        {project_id && (
          <>
            <SelectFilter name="version" label="API" value={version} options={callVersionOptions} />
            <SelectFilter
              name="key_slot"
              label="Key"
              value={key_slot}
              options={[
                ['', 'Any'],
                ['current', 'Current key'],
                ['overlap', 'Old key'],
                ['retired', 'Retired key'],
                ['secret', 'Project secret'],
                ['overlap_secret', 'Old project secret'],
                ['token', 'Management token'],
                ['session', 'Console'],
              ]}
            />
          </>
        )}
        <PeriodFilter query={query} />
        <TextFilter name="cause" label="Cause" value={cause} placeholder="bad_signature" suggestions={causeSuggestions} />
        <TextFilter name="route" label="Route" value={route} placeholder="/api/v4/rooms/{room_id}/events" wide />
        <TextFilter name="request_id" label="Request ID" value={request_id} />
      </Filters>
      {counted && isFirstPage(cursor) && calls.data && !calls.loading && (
        <CauseCounts calls={calls.data.calls} more={calls.data.next_cursor !== undefined} query={query} command={causesCommand(matching)} />
      )}
      <List
        label="API calls"
        resource={calls}
        rowsOf={(data) => data.calls}
        cursorOf={(data) => data.next_cursor}
        cursor={cursor}
        keyOf={({ request_id }) => request_id}
        columns={[
          { head: 'Status', cell: ({ status }) => <Status tone={toneOfStatus(status)}>{status}</Status> },
          {
            head: 'API call',
            wide: true,
            cell: (one) => (
              <Link className="row-link" to={href('requests', one.request_id, { project: project_id ?? (one.project_id || undefined) })}>
                <span className="method">{one.method}</span> <span className="path">{one.path}</span>
              </Link>
            ),
          },
          !project_id &&
            request_id !== undefined && { head: 'Project', cell: (one) => nameOf(one.project_id) || <span className="quiet">none</span> },
          {
            head: 'Cause',
            cell: ({ cause }) => (cause ? <span className="cause">{causeText(cause)}</span> : <span className="quiet">–</span>),
          },
          { head: 'Key', cell: (one) => <span className="nowrap">{callSlotText(one)}</span> },
          { head: 'Address', cell: ({ client_address }) => <span className="nowrap">{client_address}</span> },
          { head: 'Duration', end: true, cell: ({ duration_ms }) => <span className="nowrap">{formatDuration(duration_ms)}</span> },
          { head: 'Time', end: true, cell: ({ at }) => <Time at={at} /> },
        ]}
        empty={
          active.length > 0 ? (
            <Empty title="No API call matches">
              <p>Choose other filters. API calls are kept for the period of the setting --retention-calls.</p>
              {role === 'integrator' && <p>{unknownKeys}</p>}
            </Empty>
          ) : (
            <Empty title="No API calls yet">
              <FirstCall>API calls appear here within a second.</FirstCall>
              {role === 'integrator' && <p>{unknownKeys}</p>}
            </Empty>
          )
        }
      />
    </>
  );
}

const unknownKeys =
  'Calls of version 5 with an unknown key belong to no project, so they are not listed here. The operator of this server can find them by the address of your backend.';

/** The rejected API calls without a key and a project that exist. */
function Anonymous({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const { address, cause, version, from, until, cursor } = query;
  // Days are counted in UTC here, so there is no control for those of the time zone of the browser.
  const within = spans.some(([hours]) => hours === query.within) ? query.within : undefined;
  const times = { ...(within && { within }), ...(from && { from }), ...(until && { until }) };
  const period = usePeriod(times);
  const rejected = useList('/rejected-calls', {
    query: {
      ...(address && { address }),
      ...(cause && { cause }),
      ...(version && { version }),
      ...period,
      ...(cursor && { cursor }),
    },
  });
  const active = anonymousFilters.filter((name) => (name === 'within' ? within : query[name]));
  return (
    <>
      <Filters active={active}>
        <TextFilter name="address" label="Address" value={address} placeholder="192.0.2.1" />
        <TextFilter name="cause" label="Cause" value={cause} placeholder="unknown_key" suggestions={causeSuggestions} />
        <SelectFilter name="version" label="API" value={version} options={versionOptions} />
        <PeriodFilter query={times} presets={spans} />
      </Filters>
      <List
        label="Rejected API calls that named no project"
        resource={rejected}
        rowsOf={(data) => data.rejected_calls}
        cursorOf={(data) => data.next_cursor}
        cursor={cursor}
        keyOf={({ date, version, cause, address }) => [date, version, cause, address].join(' ')}
        columns={[
          { head: 'Cause', wide: true, cell: ({ cause }) => <span className="cause">{causeText(cause)}</span> },
          { head: 'API', cell: ({ version }) => <span className="nowrap">{versionText(version)}</span> },
          { head: 'Address', cell: ({ address }) => address || <span className="quiet">others</span> },
          { head: 'API calls', end: true, cell: ({ calls }) => formatNumber(calls) },
          { head: 'Day (UTC)', end: true, cell: ({ date }) => <span className="nowrap">{date}</span> },
          { head: 'Last', end: true, cell: ({ last_at }) => <Time at={last_at} /> },
        ]}
        empty={
          <Empty title="No such API calls">
            <p>
              {active.length > 0 && 'Choose other filters. '}Such API calls are, for example, scans and typing errors. Each is counted by
              its day and address.
            </p>
          </Empty>
        }
      />
    </>
  );
}
