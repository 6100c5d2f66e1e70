import { type ReactElement, useEffect, useState } from 'react';
import type { Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { formatDuration } from '../format';
import { href } from '../router';
import { useCaller, useMay } from '../state/context';
import { CodeBlock, Id } from '../ui/Copy';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { ProjectLink } from '../ui/ProjectLink';
import { Empty, ErrorBox, sentence } from '../ui/states';
import { Facts, Status, Time, toneOfStatus } from '../ui/values';
import { callSlotText, causeText, versionText } from './causes';

/** One API call with everything that is recorded about it. */
export function RequestPage({ id, project }: { id: string; project: string | undefined }): ReactElement {
  // A page of a search may be empty although a later page has the call.
  const [cursor, setCursor] = useState<string | null>(null);
  const query = { ...(project && { project_id: project }), request_id: id, ...(cursor && { cursor }) };
  const calls = useGet('/calls', { query }, false);
  const one = calls.data?.calls[0];
  const next = one || calls.loading ? null : (calls.data?.next_cursor ?? null);
  useEffect(() => {
    if (next) setCursor(next);
  }, [next]);
  const { role } = useCaller();
  const above = <Link to={href('requests', null, { project })}>Requests</Link>;
  if (!one) {
    return (
      <>
        <PageHead title="API call" above={above} />
        {calls.error && <ErrorBox error={calls.error} retry={calls.reload} />}
        {!calls.error && (!calls.data || calls.loading || next) && <Loading />}
        {calls.data && !calls.loading && !next && (
          <Empty title="API call not found">
            <p>New API calls appear within a second, and old ones are deleted.</p>
            {project && role !== 'integrator' ? (
              <p>
                <Link to={href('requests', id, {})}>Search all projects</Link>
              </p>
            ) : (
              !project && (
                <p>A search in all projects does not find API calls that took longer than a minute. Choose the project to find them.</p>
              )
            )}
          </Empty>
        )}
      </>
    );
  }
  return (
    <>
      <PageHead title={`${one.method} ${one.path}`} above={above}>
        <Time at={one.at} />
      </PageHead>
      {one.cause && <Cause one={one} />}
      <section className="box">
        <Facts
          rows={[
            [
              'Status',
              <Status key="status" tone={toneOfStatus(one.status)}>
                {one.status}
              </Status>,
            ],
            // A node of an earlier release sends no project_id.
            Boolean(one.project_id) && ['Project', <ProjectLink key="project" id={one.project_id} />],
            ['Request ID', <Id key="id" id={one.request_id} what="request ID" full />],
            one.route !== one.path && ['Route', <code key="route">{one.route}</code>],
            ['API', versionText(one.version)],
            ['Key', callSlotText(one)],
            one.token_id !== '' && ['Token', <Id key="token" id={one.token_id} what="token ID" full />],
            ['Duration', formatDuration(one.duration_ms)],
            ['Clock of the client', one.clock_skew_seconds === null ? 'No valid timestamp was sent' : clockText(one.clock_skew_seconds)],
            ['Address', one.client_address],
            ['User agent', one.user_agent || 'None'],
          ]}
        />
      </section>
      <section>
        <h2>On the command line</h2>
        <CodeBlock
          text={`parley calls${one.project_id ? ` --project ${one.project_id}` : ''} --request ${one.request_id}`}
          what="command"
        />
      </section>
    </>
  );
}

function Cause({ one }: { one: Schemas['Call'] }): ReactElement {
  const may = useMay();
  const project = one.project_id;
  const signed = project && ['bad_signature', 'stale_timestamp', 'retired_key', 'unknown_key'].includes(one.cause);
  return (
    <section className="box problem" aria-labelledby="cause">
      <h2 id="cause">{causeText(one.cause)}</h2>
      {one.hint && <p>{sentence(one.hint)}</p>}
      <p className="small quiet">
        Cause <code>{one.cause}</code>
      </p>
      <p className="links">
        {signed && may('POST /projects/{project_id}/signature-checks') && (
          <Link to={href('signature', null, { project, path: one.path, method: one.method, version: one.version })}>
            Check the signature line by line
          </Link>
        )}
        <Link to={href('requests', null, { project: project || undefined, cause: one.cause })}>All API calls with this cause</Link>
      </p>
    </section>
  );
}

function clockText(seconds: number): string {
  if (seconds === 0) return 'In sync';
  return `${formatDuration(Math.abs(seconds) * 1000)} ${seconds > 0 ? 'ahead of' : 'behind'} the server`;
}
