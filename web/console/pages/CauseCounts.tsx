import type { ReactElement } from 'react';
import type { Schemas } from '../api/client';
import { formatCount, formatNumber } from '../format';
import { href } from '../router';
import { CodeBlock } from '../ui/Copy';
import { Link } from '../ui/Link';
import { causeText, countCauses } from './causes';

/** How many causes are shown. */
const shownCauses = 5;

interface Props {
  /** The newest API calls that match the filters. */
  calls: Schemas['Call'][];
  /** Whether there are older ones. */
  more: boolean;
  query: Readonly<Record<string, string>>;
  /** Counts the causes of all API calls that match the filters. */
  command: string;
}

/** The most frequent causes of rejected API calls, each with a link to its API calls. */
export function CauseCounts({ calls, more, query, command }: Props): ReactElement | null {
  const counts = countCauses(calls);
  if (calls.length < 2 || counts.length === 0 || (query.cause && query.route)) return null;
  const others = counts.slice(shownCauses).reduce((sum, count) => sum + count.calls, 0);
  return (
    <section className="box" aria-labelledby="causes">
      <h2 id="causes">
        Most frequent causes{' '}
        <span className="quiet">
          {more ? `of the newest ${formatCount(calls.length, 'API call')}` : `of ${formatCount(calls.length, 'API call')}`}
        </span>
      </h2>
      <ul className="shares">
        {counts.slice(0, shownCauses).map(({ cause, route, calls: n }) => (
          <li key={`${cause} ${route}`}>
            <span>
              <Link to={href('requests', null, { ...query, cursor: undefined, cause, route })}>{causeText(cause)}</Link>{' '}
              <span className="small quiet path">{route}</span>
            </span>
            <span>{formatNumber(n)}</span>
            <span className="share" aria-hidden="true" style={{ '--to': n / calls.length }} />
          </li>
        ))}
        {others > 0 && (
          <li>
            <span className="quiet">Others</span>
            <span>{formatNumber(others)}</span>
          </li>
        )}
      </ul>
      {more && (
        <>
          <p className="small quiet">This command counts the causes of all API calls that match the filters:</p>
          <CodeBlock text={command} what="command" />
        </>
      )}
    </section>
  );
}
