import { useState } from 'react';
import type { Seat } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import { useAction } from '../useAction';

/** The link with which guests come in. */
export interface GuestLink {
  /** Null until it is made. */
  link: string | null;
  /** Null for who may not make one, or need not. */
  create: (() => void) | null;
  error: string | null;
}

/** Where the room's own address lets nobody in, those who run the room make another link. */
export function useGuestLink(actions: RoomActions, { invited_only }: Seat, isModerator: boolean, address: string): GuestLink {
  const { error, run } = useAction();
  const [created, setCreated] = useState<string | null>(null);
  async function create(): Promise<void> {
    const result = await run(() => actions.createInvitation('guest'));
    if (result) setCreated(result.value.link);
  }
  if (!invited_only) return { link: address, create: null, error: null };
  return { link: isModerator ? created : null, create: isModerator && !created ? () => void create() : null, error };
}
