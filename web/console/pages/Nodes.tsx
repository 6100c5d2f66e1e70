import type { ReactElement } from 'react';
import type { Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { formatDuration, formatNumber } from '../format';
import { useMay } from '../state/context';
import { Id } from '../ui/Copy';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Empty } from '../ui/states';
import { Status, Time, type Tone } from '../ui/values';
import { DrainButton } from './Drain';

const redisStates: Record<Schemas['Node']['redis'], { text: string; tone: Tone }> = {
  none: { text: 'Not used', tone: 'idle' },
  ok: { text: 'Reached', tone: 'good' },
  unavailable: { text: 'Unavailable', tone: 'bad' },
  unknown: { text: 'Unknown', tone: 'idle' },
};

const nodeStates: Record<Schemas['Node']['state'], { text: string; tone: Tone }> = {
  live: { text: 'Live', tone: 'good' },
  draining: { text: 'Draining', tone: 'idle' },
  lost: { text: 'Lost', tone: 'bad' },
};

/** The difference in seconds that is also a finding of the overview. */
const maxClockOffset = 5;

/** The processes that serve. */
export function Nodes(): ReactElement {
  const may = useMay();
  const nodes = useGet('/nodes', {});
  const hosts = nodes.data?.nodes.filter(({ state }) => state === 'live') ?? [];
  return (
    <>
      <PageHead title="Nodes">The processes that serve, and for a minute those that were lost.</PageHead>
      <List
        label="Nodes"
        resource={nodes}
        rowsOf={(data) => data.nodes}
        keyOf={({ node }) => node}
        columns={[
          {
            head: 'State',
            cell: ({ state, drain_by }) => (
              <>
                <Status tone={nodeStates[state].tone}>{nodeStates[state].text}</Status>
                {drain_by && (
                  <span className="quiet small nowrap">
                    {' '}
                    until <Time at={drain_by} />
                  </span>
                )}
              </>
            ),
          },
          {
            head: 'Node',
            wide: true,
            cell: ({ node, this_node }) => (
              <>
                <Id id={node} what="node ID" /> {this_node && <span className="quiet small nowrap">serves this page</span>}
              </>
            ),
          },
          {
            head: 'Version',
            cell: ({ version, started_at }) => (
              <span className="two-lines">
                {version || 'earlier release'}{' '}
                <span className="small quiet nowrap">
                  since <Time at={started_at} />
                </span>
              </span>
            ),
          },
          { head: 'People', end: true, cell: ({ people }) => formatNumber(people) },
          { head: 'Relayed', end: true, cell: ({ relayed_people }) => formatNumber(relayed_people) },
          { head: 'Sessions', end: true, cell: ({ sessions }) => formatNumber(sessions) },
          { head: 'Redis', cell: ({ redis }) => <Status tone={redisStates[redis].tone}>{redisStates[redis].text}</Status> },
          { head: 'Clock', cell: ({ clock_offset_seconds }) => <Clock seconds={clock_offset_seconds} /> },
          { head: 'Last heartbeat', end: true, cell: ({ last_seen_at }) => <Time at={last_seen_at} ago /> },
          may('POST /nodes/{node}/drain') && {
            head: 'Drain',
            cell: (node) => <DrainButton node={node} hasOther={hosts.some((other) => other.node !== node.node)} onDone={nodes.reload} />,
          },
        ]}
        empty={
          <Empty title="No node has reported">
            <p>A node appears here a second after its start. If none does, look at the log of the server.</p>
          </Empty>
        }
      />
    </>
  );
}

function Clock({ seconds }: { seconds: number | undefined }): ReactElement {
  if (seconds === undefined) return <span className="quiet">unknown</span>;
  if (Math.abs(seconds) < 1) return <>Same</>;
  return (
    <Status tone={Math.abs(seconds) > maxClockOffset ? 'warn' : 'idle'}>
      {formatDuration(Math.abs(seconds) * 1000)} {seconds > 0 ? 'ahead' : 'behind'}
    </Status>
  );
}
