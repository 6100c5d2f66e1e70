import type { Schemas } from '../api/client';
import type { Tone } from '../ui/values';

type State = Schemas['Session']['state'];
/** A session of any release: a node of an earlier one sends no state, and a node of a later one may send another state. */
type Session = Pick<Schemas['Session'], 'open_by' | 'expires_at' | 'ended_at'> & { state?: string };

const shown: Record<State, { tone: Tone; text: string }> = {
  not_opened: { tone: 'busy', text: 'Link not opened' },
  live: { tone: 'good', text: 'Signed in' },
  idle: { tone: 'idle', text: 'Idle too long' },
  expired: { tone: 'idle', text: 'Expired' },
  ended: { tone: 'idle', text: 'Ended' },
};

function stateByTimes({ open_by, expires_at, ended_at }: Session): State {
  if (ended_at) return 'ended';
  if (Date.parse(open_by ?? expires_at) <= Date.now()) return 'expired';
  return open_by ? 'not_opened' : 'live';
}

/** Describes whether a session works, and says whether it can still be ended. */
export function sessionState(session: Session): { text: string; tone: Tone; canEnd: boolean } {
  const state = session.state ?? stateByTimes(session);
  const { tone, text } = shown[state as State] ?? { tone: 'idle', text: state };
  return {
    tone,
    text: state === 'expired' && session.open_by ? 'Link expired' : text,
    canEnd: state !== 'expired' && state !== 'ended',
  };
}
