import { useEffect, useState, type ReactElement } from 'react';
import type { RoomModule } from '../room';
import { Opening } from './Opening';

interface Props {
  loadRoom: () => Promise<RoomModule>;
  children: (room: RoomModule) => ReactElement;
}

/** A view that is seldom the first, and so comes with the room. */
export function WithRoom({ loadRoom, children }: Props): ReactElement {
  const [room, setRoom] = useState<RoomModule | null>(null);
  const [failed, setFailed] = useState(false);
  const load = (): void => void loadRoom().then(setRoom, () => setFailed(true));
  useEffect(load, []);
  return room ? children(room) : <Opening away={failed} busy={false} onAgain={load} />;
}
