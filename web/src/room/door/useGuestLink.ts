import { useState } from 'react';
import type { Seat } from '../../api/client';
import type { Acts } from '../../visit/acts';
import { useAct } from '../useAct';

/** The link with which guests come in. */
export interface GuestLink {
  /** Null until it is made. */
  link: string | null;
  /** Null for who may not make one, or need not. */
  make: (() => void) | null;
  trouble: string | null;
}

/** Where the room's own address lets nobody in, those who run the room make another link. */
export function useGuestLink(acts: Acts, { invited_only }: Seat, runs: boolean, address: string): GuestLink {
  const { trouble, run } = useAct();
  const [made, setMade] = useState<string | null>(null);
  async function make(): Promise<void> {
    const done = await run(() => acts.invite('guest'));
    if (done) setMade(done.value.link);
  }
  if (!invited_only) return { link: address, make: null, trouble: null };
  return { link: runs ? made : null, make: runs && !made ? () => void make() : null, trouble };
}
