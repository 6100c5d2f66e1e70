import type { components as V3 } from '../generated/v3.gen.js';
import type { components as V4 } from '../generated/v4.gen.js';

type SchemasV3 = V3['schemas'];
type Schemas = V4['schemas'];

/** What a call takes besides its arguments. */
export interface CallOptions {
  /** Aborts the call, also while it waits for its next attempt. The call then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** Makes a call safe to repeat. */
export interface Idempotent {
  /**
   * 1 to 255 printable ASCII characters, without a space at the start or the end. For 24 hours the same key with the
   * same request gets the first response again, and with another request an InvalidRequestError. A call with a key
   * is repeated after a lost response.
   */
  idempotency_key?: string | undefined;
}

/** The bounds of a room. */
export interface RoomLimits {
  /** From 1 to the limit of the plan, at most 1,000. */
  max_participants: number;
  /**
   * How long a room stays open after the last participant has left, in seconds, 1 to 86,400. 0 means the default of
   * the project. A quick room that nobody enters expires after this time, but not before 300 seconds. A scheduled room
   * that nobody enters expires 24 hours after its start.
   */
  empty_timeout: number;
}

/** The fields of a creation without those that the SDK adds or narrows. */
type Creation<Fields> = Omit<Fields, 'project_id' | keyof RoomLimits> & RoomLimits & Idempotent;

/** The title and the welcome message that participants see, and the requested features. */
export type Metadata = Schemas['Metadata'];

/** Asks for a room that is open at once. Version 3 ignores the fields that only version 4 has. */
export type QuickRoomRequest = Creation<Schemas['CreateQuickRoomRequest']>;

/** Asks for a room that opens at `start_at`, a local time of the server's scheduling zone (YYYY-MM-DDTHH:MM). */
export type ScheduledRoomRequest = Creation<Schemas['CreateScheduledRoomRequest']>;

/** Asks version 3 for a room that opens at `start_at`, an ISO 8601 date and time such as 2027-01-31T09:30:00Z. */
export type ScheduledRoomV3Request = Creation<SchemasV3['CreateScheduledRoomRequest']>;

/** The ID of a request. */
export interface WithRequestId {
  /** Identifies the request in the log of the server. It is not secret. Empty if the response has none. */
  request_id: string;
}

/** What the headers of a response say about the fields of the request. */
export interface WithFieldReport {
  /** Names of fields that were sent and have no effect, at most 20. */
  ignored_fields: string[];
  /** Names of requested features that were lowered to the limit of the plan. Always empty on version 3. */
  features_adjusted: string[];
}

/** A room that is open. */
export type QuickRoom = Schemas['QuickRoomCreated'] & WithFieldReport & WithRequestId;

/** A room that opens at `start_time`. */
export type ScheduledRoom = Schemas['ScheduledRoomCreated'] & WithFieldReport & WithRequestId;

/** A room of version 3 that opens at `start_time`. It has no `final_link`. */
export type ScheduledRoomV3 = SchemasV3['ScheduledRoomCreated'] & WithFieldReport & WithRequestId;

/** Whether a project accepts new rooms and new joins. */
export type ProjectStatus = Schemas['ProjectStatus'];

/** The new status of a project. */
export type ProjectStatusUpdate = Schemas['ProjectStatusUpdated'] & WithRequestId;

/** Reports that a person joined a room in another system. */
export interface JoinEvent {
  /** The UUID of the room. */
  room_id: string;
  /** The name of the person, 1 to 255 characters, not blank. */
  name: string;
}

/** Confirms a join event. */
export type JoinEventReceived = Schemas['RoomEventReceived'] & WithRequestId;
