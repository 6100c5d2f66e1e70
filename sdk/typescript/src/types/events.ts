import type { components, operations } from '../generated/v4.gen.js';

type Schemas = components['schemas'];
type WebhookBody<Name extends 'projectStatusChanged' | 'keyRotated' | 'keyOverlapEnding' | 'webhookTest'> =
  operations[Name]['requestBody']['content']['application/json'];

/** A room was scheduled or rescheduled. */
export type RoomScheduledEvent = Schemas['RoomScheduledEvent'];
/** People can join. */
export type RoomOpenedEvent = Schemas['RoomOpenedEvent'];
/** The first person joined. */
export type RoomStartedEvent = Schemas['RoomStartedEvent'];
/** The room is over. */
export type RoomEndedEvent = Schemas['RoomEndedEvent'];
/** The room was canceled before it opened. */
export type RoomCancelledEvent = Schemas['RoomCancelledEvent'];
/** Nobody ever joined. */
export type RoomExpiredEvent = Schemas['RoomExpiredEvent'];
/** A person joined. */
export type ParticipantJoinedEvent = Schemas['ParticipantJoinedEvent'];
/** A person left. Each joined event has one left event, with the same `connection_id`. */
export type ParticipantLeftEvent = Schemas['ParticipantLeftEvent'];
/** A person found the room full. */
export type ParticipantJoinFailedEvent = Schemas['ParticipantJoinFailedEvent'];
/** A join event reported a person; nobody connected to this server. */
export type ParticipantReportedEvent = Schemas['ParticipantReportedEvent'];
/** A participant rated the meeting. */
export type FeedbackGivenEvent = Schemas['FeedbackGivenEvent'];
/** The status of the project changed, or the project was suspended or resumed. */
export type ProjectStatusChangedEvent = WebhookBody<'projectStatusChanged'>;
/** A credential was rotated. */
export type KeyRotatedEvent = WebhookBody<'keyRotated'>;
/** The old credential stops working soon. */
export type KeyOverlapEndingEvent = WebhookBody<'keyOverlapEnding'>;
/** An operator requested a test. */
export type WebhookTestEvent = WebhookBody<'webhookTest'>;

/**
 * An event of a room, told apart by `type`. A server may send types that this version of the SDK does not know: accept
 * and ignore them.
 */
export type RoomEvent = Schemas['EventOfRoom'];

/** The body of a webhook, told apart by `type`: an event of a room, or of the project itself. */
export type WebhookEvent =
  | RoomEvent
  | ProjectStatusChangedEvent
  | KeyRotatedEvent
  | KeyOverlapEndingEvent
  | WebhookTestEvent;
