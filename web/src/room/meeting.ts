import type { Room } from 'livekit-client';
import { createContext, useContext } from 'react';
import type { Role, Seat } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import type { ServerClock } from '../time/serverClock';
import type { RoomActions } from '../visit/roomActions';
import type { Connection } from '../visit/state';
import type { PacketMonitor } from './connection/packetMonitor';
import type { PublishPermissions } from './connection/publishPermissions';
import type { RoomMetadata } from './connection/roomMetadata';
import type { GuestLink } from './invite/useGuestLink';
import type { OpenSheet, OpenViews, PanelTab } from './openSheet';
import type { Person } from './people/person';
import type { RosterEntry } from './people/roster';
import type { HandElsewhere } from './reactions/hands';
import type { Reactions } from './reactions/reactions';
import type { WaitingRoom } from './waitingRoom/useWaitingRoom';

/** The state and the actions that the components of the room share. */
export interface Meeting {
  room: Room;
  connection: Connection;
  /** The visitor's own connection is lost, and the page says so. */
  connectionLost: boolean;
  packets: PacketMonitor;
  clock: ServerClock;
  seat: Seat;
  /** The visitor's current role, which a host may have changed since the seat was taken. */
  role: Role;
  /** The visitor is a host or a co-host. */
  isModerator: boolean;
  /** The tracks that the visitor may publish. */
  allowed: PublishPermissions;
  localMedia: LocalMedia;
  mediaState: MediaState;
  metadata: RoomMetadata;
  /** The number of the visitor's breakout room; 0 is the main room. */
  breakoutNumber: number;
  /** The name of the visitor's breakout room or of the main room; null when there are no breakout rooms. */
  breakoutName: string | null;
  people: RosterEntry<Person>[];
  /** The people whose hand is raised, in the server's order. */
  hands: readonly Person[];
  /** The hands that are raised in the other rooms, for hosts. */
  handsElsewhere: readonly HandElsewhere[];
  /** When the page has seen a hand go up, by identity; null for hands that were up before. */
  raisedAt: ReadonlyMap<string, number | null>;
  reactions: Reactions;
  waitingRoom: WaitingRoom;
  guestLink: GuestLink;
  /** The number of unread messages; null in a room without chat. */
  unread: number | null;
  /** The screen is narrow, so that some controls are in a sheet. */
  narrow: boolean;
  /** The side panel covers the screen. */
  panelCovers: boolean;
  /** The organizer's message; empty when there is none. */
  welcomeMessage: string;
  actions: RoomActions;
  open: OpenViews;
  openSheet: (sheet: OpenSheet) => void;
  /** Opens a tab of the side panel, or closes the panel when that tab is open. */
  toggleTab: (tab: PanelTab) => void;
  /** Leaves the room. The last host is asked first whether to end it for all. */
  leave: () => void;
  /** Leaves the room without a question. */
  leaveAnyway: () => void;
}

export const MeetingContext = createContext<Meeting | null>(null);

/** Returns the meeting of the room that the component is in. */
export function useMeeting(): Meeting {
  const meeting = useContext(MeetingContext);
  if (!meeting) throw new Error('useMeeting is used outside of the room');
  return meeting;
}
