import type { components as V3 } from '../generated/v3.gen.js';
import type { components as V4 } from '../generated/v4.gen.js';
import type { Idempotent, RoomLimits, WithFieldReport, WithRequestId } from './rooms.js';

type SchemasV3 = V3['schemas'];
type Schemas = V4['schemas'];

/** Names a room of the project. */
export interface RoomReference {
  /** The UUID of the room. */
  room_id: string;
}

/** Asks to open a scheduled room now. */
export type StartRoomRequest = Schemas['StartScheduleRoomRequest'] & Idempotent;

/** A room that was started, with a new link for its host. */
export type StartedRoom = Schemas['RoomStarted'] & WithRequestId;

/** Asks for a link for one person. */
export type JoinRoomRequest = Schemas['JoinRoomRequest'] & Idempotent;

/** The link of one person. The first browser that joins with it keeps it. */
export type PersonalLink = Schemas['PersonalLink'] & WithRequestId;

/** Asks for a link to pass on: `admin` admits one co-host, `viewer` admits guests. */
export type InvitationRequest = Schemas['InvitationLinkRequest'] & Idempotent;

/** A link to pass on. */
export type InvitationLink = Schemas['InvitationLink'] & WithRequestId;

/** Asks for a simulated meeting in an open room of a test project. */
export type SimulationRequest = Partial<Schemas['MeetingSimulation']> & RoomReference & Idempotent;

/** A person who joins a simulated meeting. */
export type SimulatedPerson = Schemas['SimulatedPerson'];

/** A simulated meeting that has begun. */
export type SimulatedMeeting = Schemas['MeetingSimulated'] & WithRequestId;

/** The role of a person in a signed join link. */
export type JoinLinkRole = 'host' | 'cohost' | 'guest';

/** Describes a link that the client signs itself. */
export interface JoinLinkRequest extends RoomReference {
  /** `guest` by default. */
  role?: JoinLinkRole | undefined;
  /** The display name that the page fills in, at most 255 characters. */
  name?: string | undefined;
  /**
   * Your own ID of the person, at most 255 characters. A second browser with a link of the same person takes the seat
   * over.
   */
  user_id?: string | undefined;
  /** Whether the link admits only the first browser that joins with it. False by default. */
  single_use?: boolean | undefined;
  /**
   * How long the link may wait for its first use, in seconds, 1 to 86,400. 3,600 by default. People who have joined by
   * then may stay and come back.
   */
  expires_in?: number | undefined;
}

/**
 * Changes a room that is still scheduled. Absent fields keep their value. `start_at` has the form of the version: a
 * local time (YYYY-MM-DDTHH:MM) on version 4, an ISO 8601 date and time on version 3.
 */
export type RescheduleRequest = Omit<Schemas['RescheduleRoomRequest'], keyof RoomLimits> &
  Partial<RoomLimits> &
  Idempotent;

/** A room that was changed. `final_link` is a new link for its host, on version 4 only; earlier links stay valid. */
export type RescheduledRoom = SchemasV3['ScheduledRoomCreated'] &
  Partial<Pick<Schemas['ScheduledRoomCreated'], 'client_room_id' | 'final_link'>> &
  WithFieldReport &
  WithRequestId;

/** Confirms the end of a room. */
export type EndedRoom = Schemas['Done'] & WithRequestId;

/** Whether people can join a room, with a sentence that describes its state. */
export type RoomStatus = Schemas['RoomStatus'] & WithRequestId;

/** A room that is open or active, with its participants. Hidden participants are not listed. */
export type ActiveRoom = Schemas['ActiveRoom'];

/** A room that is open or active. */
export type RoomInfo = Schemas['RoomInfo'];

/** A participant who is in a room now. */
export type ParticipantInfo = Schemas['ParticipantInfo'];

/** The role of a participant. */
export type ParticipantRole = Schemas['ParticipantRole'];

/** The state of a room. */
export type RoomState = Schemas['RoomState'];

/** Selects the rooms of a list. */
export interface RoomsRequest {
  /** Only rooms in this state. Absent means all. */
  state?: RoomState | undefined;
}

/** A room in a list. A time that has not been reached is absent. */
export type ListedRoom = Schemas['ListedRoom'];

/** Selects a page of the rooms that have ended, expired or been canceled. */
export type PastRoomsRequest = Partial<Schemas['PastRoomsRequest']>;

/** A page of past rooms. */
export type PastRooms = Schemas['PastRooms'] & WithRequestId;

/** A room that has ended, expired or been canceled. */
export type PastRoom = Schemas['PastRoom'];

/** The attendance of a room. Hidden participants are not listed. */
export type Analytics = Schemas['AnalyticsResponse'] & WithRequestId;

/** One person, over all connections. `duration` is in seconds. */
export type Attendee = Schemas['AttendeeInfo'];

/** A person whom a join event reported. */
export type ReportedAttendee = Schemas['ReportedAttendee'];

/** Selects the events of a room. */
export interface RoomEventsRequest extends RoomReference {
  /** The `sequence` of the last event that you have; 0, the default, means all events. */
  after?: number | undefined;
}
