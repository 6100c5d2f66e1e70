import type { ReactElement } from 'react';
import type { Preview } from '../api/client';
import { count, locale, t } from '../messages';
import { formatWhen } from '../time/dateTime';
import { initials } from '../ui/initials';

/**
 * The people in an open room, and its start if a host has opened it before that. A visitor whom a host
 * has to admit also reads whether one is here.
 */
export function WhoIsHere({ preview: { others, host_present, you, start_time, server_time } }: { preview: Preview }): ReactElement {
  const people = others.count === 0 ? t('lobby.nobody') : namesOf(others);
  const host = you.waits && others.count > 0 && t(host_present ? 'waiting.hostHere' : 'waiting.hostAway');
  const [start, now] = [Date.parse(start_time ?? ''), Date.parse(server_time)];
  return (
    <p className={start_time ? 'who-is-here scheduled quiet' : 'who-is-here quiet'}>
      {others.names.length > 0 && (
        <span className="faces-small" aria-hidden="true">
          {others.names.map((name, i) => (
            <span key={i} className="face-small">
              {initials(name)}
            </span>
          ))}
        </span>
      )}
      <span>{[start > now && formatWhen(start, now), people, host].filter(Boolean).join(' · ')}</span>
    </p>
  );
}

function namesOf({ count: n, names }: Preview['others']): string {
  // The server tells no names to a visitor whom a host has to admit.
  if (names.length === 0) return count('lobby.people', n);
  // Isolated, because each name may run in the other direction.
  const isolated = names.map((name) => `\u2068${name}\u2069`);
  const more = n > names.length ? [count('lobby.more', n - names.length)] : [];
  return count('lobby.here', n, { names: listOf([...isolated, ...more]) });
}

/** Joins the items with commas and "and". */
function listOf(items: string[]): string {
  const [only = '', ...others] = items;
  // The first list format takes a browser 10 to 40 ms, in which the first view is not drawn.
  return others.length === 0 ? only : new Intl.ListFormat(locale(), { type: 'conjunction' }).format(items);
}
