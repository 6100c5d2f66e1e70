import { type ReactElement, useState } from 'react';
import { ApiError, call, type Schemas } from '../api/client';
import { useProjectName } from '../api/projects';
import { useList } from '../api/useGet';
import { formatCount } from '../format';
import { useMay } from '../state/context';
import { Id } from '../ui/Copy';
import { Filters, TextFilter } from '../ui/Filters';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Empty, ErrorBox, sentence } from '../ui/states';
import { Time } from '../ui/values';
import { actionSuggestions } from './auditActions';
import { PeriodFilter } from './PeriodFilter';
import { periodFilters, usePeriod } from './usePeriod';

type Entry = Schemas['AuditEntry'];

/** The audit log, with the verification of its hash chain. */
export function Audit({ query }: { query: Readonly<Record<string, string>> }): ReactElement {
  const may = useMay();
  const { project, action, actor, subject, cursor } = query;
  const period = usePeriod(query);
  const nameOf = useProjectName();
  const active = ['action', 'actor', 'subject', ...periodFilters].filter((name) => query[name]);
  const entries = useList('/audit', {
    query: {
      ...(project && { project_id: project }),
      ...(action && { action }),
      ...(actor && { actor }),
      ...(subject && { subject }),
      ...period,
      ...(cursor && { cursor }),
    },
  });
  return (
    <>
      <PageHead title="Audit log">
        Every change through the management API or on the machine of the server, and by the service itself: who made it, from where, and
        what the values were before.
      </PageHead>
      {may('GET /audit/verify') && <Verify />}
      <Filters active={active}>
        <TextFilter name="action" label="Action" value={action} placeholder="project.changed" suggestions={actionSuggestions} />
        <TextFilter name="actor" label="Actor (name or ID)" value={actor} />
        <TextFilter name="subject" label="Subject ID" value={subject} />
        <PeriodFilter query={query} />
      </Filters>
      <List
        label="Audit log"
        resource={entries}
        rowsOf={(data) => data.entries}
        cursorOf={(data) => data.next_cursor}
        cursor={cursor}
        keyOf={({ n }) => n}
        columns={[
          { head: 'No.', end: true, cell: ({ n }) => n },
          { head: 'Who', cell: (entry) => <Actor entry={entry} /> },
          { head: 'What', cell: ({ action }) => <code>{action}</code> },
          { head: 'Subject', cell: ({ subject }) => <Id id={subject} what="ID of the subject" /> },
          !project && {
            head: 'Project',
            cell: ({ project_id }) => (project_id ? nameOf(project_id) : <span className="quiet">none</span>),
          },
          { head: 'Change', wide: true, cell: (entry) => <Change entry={entry} /> },
          { head: 'Time', end: true, cell: ({ at }) => <Time at={at} /> },
        ]}
        empty={
          <Empty title="No entry">
            <p>{active.length > 0 ? 'No change matches. Choose other filters.' : 'Nothing was changed yet.'}</p>
          </Empty>
        }
      />
    </>
  );
}

function Actor({ entry: { actor, actor_kind, address } }: { entry: Entry }): ReactElement {
  return (
    <span className="two-lines">
      {actor} <span className="small quiet">{actor_kind === 'local' ? 'on the machine' : actor_kind}</span>
      {address && <span className="small quiet">{address}</span>}
    </span>
  );
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A value of a change. IDs are shortened, and times are shown as all others of the page. name says what the value is. */
function Value({ value, name }: { value: unknown; name: string }): ReactElement {
  if (Array.isArray(value) && value.length > 0) {
    return (
      <>
        {value.map((one, i) => (
          <span key={JSON.stringify(one)}>
            {i > 0 && ', '}
            <Value value={one} name={name} />
          </span>
        ))}
      </>
    );
  }
  if (typeof value !== 'string') return <>{JSON.stringify(value)}</>;
  if (uuid.test(value)) return <Id id={value} what={name} />;
  if (time.test(value)) return <Time at={value} />;
  return <>{value || 'empty'}</>;
}

/** The changed values: what they were, and what they are. */
function Change({ entry: { before, after } }: { entry: Entry }): ReactElement {
  const [old, now] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  if (names.length === 0) return <span className="quiet">–</span>;
  return (
    <ul className="changes small">
      {names.map((field) => {
        const name = field.replaceAll('_', ' ');
        return (
          <li key={field}>
            <span className="quiet">{name}:</span>{' '}
            {field in old && (
              <del>
                <Value value={old[field]} name={`old ${name}`} />
              </del>
            )}{' '}
            {field in now && <Value value={now[field]} name={name} />}
          </li>
        );
      })}
    </ul>
  );
}

/** Checks the chain when asked, because that reads the whole log. */
function Verify(): ReactElement {
  const [report, setReport] = useState<Schemas['AuditReport'] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const verify = async (): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      setReport(await call('get', '/audit/verify', {}));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <div className="stack" role="status">
      {error && <ErrorBox error={error} />}
      {report?.ok && (
        <div className="box good">
          <p>
            The log is intact: {formatCount(report.rows, 'entry', 'entries')}, each linked to the one before it. Compare the last hash with
            the one in the server’s log.
          </p>
          <Id id={report.head} what="last hash" full />
        </div>
      )}
      {report && !report.ok && (
        <div className="box problem">
          <h2>The log was altered{report.problem && ` at entry ${report.problem.n}`}</h2>
          <p>{sentence(report.problem?.message ?? 'The chain is broken')}</p>
          <p>Keep the database as it is, and compare it with your last backup.</p>
        </div>
      )}
      {!report?.ok && (
        <button type="button" className="secondary more" aria-disabled={busy} onClick={verify}>
          {busy ? 'Verifying…' : 'Verify the log'}
        </button>
      )}
    </div>
  );
}
