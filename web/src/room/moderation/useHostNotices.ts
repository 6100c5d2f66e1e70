import { useEffect, useReducer, useRef } from 'react';
import type { Role } from '../../api/client';
import type { LocalMedia } from '../../media/localMedia';
import type { Locks } from '../connection/roomMetadata';
import type { ServerMessages } from '../connection/serverMessages';
import { type HostNotices, noHostNotices, reduceHostNotices } from './hostNotices';

/** Returns what hosts have changed for the visitor. `read` removes a notice. */
export function useHostNotices(
  serverMessages: ServerMessages,
  role: Role,
  locks: Locks,
  localMedia: LocalMedia,
): [HostNotices, read: (kind: 'mic' | 'role' | 'locks') => void] {
  const [notices, dispatch] = useReducer(reduceHostNotices, noHostNotices);
  useEffect(
    () =>
      serverMessages.subscribe({
        muted: ({ from }) => {
          // The server has muted the track already; the local state follows, so that the
          // button shows it.
          void localMedia.setMicOn(false);
          dispatch({ type: 'muted', from });
        },
        unmute: ({ from }) => dispatch({ type: 'asks', from }),
      }),
    [serverMessages, localMedia],
  );

  const before = useRef({ role, locks });
  useEffect(() => {
    const previous = before.current;
    before.current = { role, locks };
    if (previous.role !== role) {
      if (role !== 'host') dispatch({ type: 'role', role });
    } else if (role === 'guest') dispatch({ type: 'locks', before: previous.locks, after: locks });
  }, [role, locks]);
  return [notices, (kind) => dispatch({ type: 'read', kind })];
}
