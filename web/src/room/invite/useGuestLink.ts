import { useState } from 'react';
import type { Seat } from '../../api/client';
import type { RoomActions } from '../../visit/roomActions';
import { useAction } from '../actions/useAction';

/** The link with which guests join. */
export interface GuestLink {
  /** Null until it is created. */
  link: string | null;
  /** Null when the visitor may not or need not create a link. */
  create: (() => void) | null;
  error: string | null;
}

/** Returns the address of the room, or, in a room that needs invitations, a link that a host creates. */
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
