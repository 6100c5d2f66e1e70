import type { Room } from 'livekit-client';
import { type Context, createContext, useContext } from 'react';
import type { Role, Seat } from '../api/client';
import type { LocalMedia } from '../media/localMedia';
import type { MediaState } from '../media/mediaState';
import type { ServerClock } from '../time/serverClock';
import type { RoomActions } from '../visit/roomActions';
import type { Connection } from '../visit/state';
import type { PacketMonitor } from './connection/packetMonitor';
import type { PublishPermissions } from './connection/publishPermissions';
import type { RoomMetadata } from './connection/roomMetadata';
import type { ServerMessages } from './connection/serverMessages';
import type { GuestLink } from './invite/useGuestLink';
import type { OpenSheet, OpenViews, PanelTab } from './openSheet';
import type { Person } from './people/person';
import type { RosterEntry } from './people/roster';
import type { HandElsewhere } from './reactions/hands';
import type { Reactions } from './reactions/reactions';
import type { WaitingRoom } from './waitingRoom/useWaitingRoom';

// What the components of the room share, in four parts, so that a component says which of them it
// uses.

/** The visitor's place in the room, and what the visitor can do there. */
export interface Membership {
  room: Room;
  clock: ServerClock;
  seat: Seat;
  /** The visitor's current role, which a host may have changed since the seat was taken. */
  role: Role;
  /** The visitor is a host or a co-host. */
  isModerator: boolean;
  /** The number of the visitor's breakout room; 0 is the main room. */
  breakoutNumber: number;
  /** The name of the visitor's breakout room or of the main room; null when there are no breakout rooms. */
  breakoutName: string | null;
  /** The organizer's message; empty when there is none. */
  welcomeMessage: string;
  guestLink: GuestLink;
  actions: RoomActions;
}

/** The visitor's own connection and devices. */
export interface MeetingMedia {
  connection: Connection;
  /** The visitor's own connection is lost, and the page says so. */
  connectionLost: boolean;
  packets: PacketMonitor;
  serverMessages: ServerMessages;
  localMedia: LocalMedia;
  mediaState: MediaState;
  /** The tracks that the visitor may publish. */
  allowed: PublishPermissions;
}

/** The people in the room, and what the server says about them. */
export interface MeetingPeople {
  people: RosterEntry<Person>[];
  metadata: RoomMetadata;
  /** The people whose hand is raised, in the server's order. */
  hands: readonly Person[];
  /** The hands that are raised in the other rooms, for hosts. */
  handsElsewhere: readonly HandElsewhere[];
  /** When the page has seen a hand go up, by identity; null for hands that were up before. */
  raisedAt: ReadonlyMap<string, number | null>;
  reactions: Reactions;
  waitingRoom: WaitingRoom;
}

/** What is open on the screen, and what changes that. */
export interface MeetingView {
  /** The screen is narrow, so that some controls are in a sheet. */
  narrow: boolean;
  /** The side panel covers the screen. */
  panelCovers: boolean;
  open: OpenViews;
  /** The number of unread messages; null in a room without chat. */
  unread: number | null;
  openSheet: (sheet: OpenSheet) => void;
  /** Opens a tab of the side panel, or closes the panel when that tab is open. */
  toggleTab: (tab: PanelTab) => void;
  /** Leaves the room. The last host is asked first whether to end it for all. */
  leave: () => void;
  /** Leaves the room without a question. */
  leaveAnyway: () => void;
}

export const MembershipContext = createContext<Membership | null>(null);
export const MeetingMediaContext = createContext<MeetingMedia | null>(null);
export const MeetingPeopleContext = createContext<MeetingPeople | null>(null);
export const MeetingViewContext = createContext<MeetingView | null>(null);

export const useMembership = (): Membership => usePart(MembershipContext);
export const useMeetingMedia = (): MeetingMedia => usePart(MeetingMediaContext);
export const useMeetingPeople = (): MeetingPeople => usePart(MeetingPeopleContext);
export const useMeetingView = (): MeetingView => usePart(MeetingViewContext);

function usePart<T>(context: Context<T | null>): T {
  const part = useContext(context);
  if (!part) throw new Error('this part of the meeting is used outside of the room');
  return part;
}
