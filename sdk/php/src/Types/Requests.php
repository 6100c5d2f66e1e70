<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

/**
 * The types of request bodies, for static analysis. Import one with
 * `@phpstan-import-type JoinRoomRequest from \Parley\Types\Requests`.
 *
 * ProjectStatusRequest: The body of a request to activate or deactivate the project.
 *
 * BreakoutRoomFeatures: The requested breakout rooms.
 * - allowed_number_rooms: The number of breakout rooms. A value above the plan's limit is lowered
 *   to it.
 *
 * RoomFeatures: The requested features of the room. Project settings and plan policy control other
 * features, which are listed in `X-Ignored-Fields`.
 * - room_duration: Minutes from the first join. 0 means the plan's limit; a higher value is lowered
 *   to it.
 *
 * RoomMetadata: The texts and features of the room.
 * - room_title: The title that participants see. Not blank.
 * - welcome_message: May be empty. May contain line breaks.
 * - room_features: The requested features of the room. Project settings and plan policy control
 *   other features, which are listed in `X-Ignored-Fields`.
 *
 * CreateScheduledRoomRequest: A room that opens at its start time. The SDK adds the project_id.
 * - start_at: A local time of the server's scheduling zone, exactly `YYYY-MM-DDTHH:MM`. The zone is
 *   UTC unless the operator has set another one. No call names it: ask the operator. `start_time`
 *   in the response has its offset. The time must be in the future (60 seconds are tolerated) and
 *   at most 366 days ahead. A time that daylight saving skips is rejected; a time that occurs twice
 *   means the first.
 * - max_participants: From 1 to the limit of the plan, at most 1000.
 * - empty_timeout: Seconds that the room may stay empty after the last participant leaves, 1 to
 *   86400. 0 means the project's default (300).
 * - name: The creator's display name, which the page fills in for the host. Required if
 *   external_user_id is sent.
 * - external_user_id: The id of the creator in your system. It cannot be assigned for the first
 *   time when the room is started.
 * - logout_url: The URL that opens after leaving: an absolute http(s) URL without credentials.
 *   Default: the project's default_logout_url.
 * - webhook_url: The room's own webhook target: an absolute http(s) URL without credentials.
 * - client_room_id: Your own id for the room. It is unique in the project and can never be reused.
 *
 * JoinEventUserInfo: The person who joined.
 * - name: The name of the person who joined. Not blank.
 *
 * JoinEventRequest: The body of a request to report a join event.
 * - room_id: The id of the room in the path.
 *
 * CreateQuickRoomRequest: A room that opens immediately. The SDK adds the project_id.
 * - name: The creator's display name, which the page fills in for the host. Not blank.
 * - max_participants: From 1 to the limit of the plan, at most 1000.
 * - empty_timeout: Seconds that the room may stay empty after the last participant leaves. 0 means
 *   the project's default (300). A room that nobody joins expires after this time, or after 300 s
 *   if that is longer.
 * - external_user_id: The id of the creator in your system. It is the creator's identity in the
 *   data of the room.
 * - logout_url: The URL that opens after leaving: an absolute http(s) URL without credentials.
 *   Default: the project's default_logout_url.
 * - webhook_url: The room's own webhook target: an absolute http(s) URL without credentials.
 * - client_room_id: Your own id for the room. It is unique in the project and can never be reused.
 *
 * StartScheduledRoomRequest: The scheduled room to open, and its host.
 * - name: The host's display name. Not blank.
 * - external_user_id: The external_user_id of the room's creation, if any. It cannot be assigned
 *   here for the first time.
 *
 * JoinRoomUserInfo: The person for whom the link is.
 * - name: The name that the page fills in for the person. Not blank.
 * - client_user_id: The id of the person in your system. It is the person's identity in the data of
 *   the room.
 * - is_admin: Whether the person becomes a host.
 * - is_hidden: Whether the person is hidden: the others do not see hidden participants, and they
 *   are not counted. Requires the project's setting hidden_participants.
 *
 * JoinRoomRequest: The room, and the person for whom the link is.
 * - expires_in: Seconds after which the link expires for people who have not used it. 0, null or
 *   absent means as long as the room exists.
 *
 * InvitationLinkRequest: The room, and the role of the people whom the link admits.
 * - role: admin admits a co-host, viewer admits guests.
 * - user_id: The id of the person in your system. Everybody who opens the link is this person: a
 *   second browser takes over the seat.
 * - expires_in: Seconds after which the link expires for people who have not used it. 0, null or
 *   absent means as long as the room exists.
 *
 * SimulatedPerson: A person who joins a simulated meeting.
 * - client_user_id: Your own ID of the person: different for each of the people, or absent.
 * - is_admin: Whether the person is a host.
 *
 * MeetingSimulation: A room of a test project, and the people who join it.
 * - room_id: The id of an open room of the project.
 * - seconds: The time from the first join to the end of the room. People join in its first third
 *   and leave in its last third, in the opposite order.
 * - people: The people who join, in this order; by default a host and two guests. The first one
 *   stays to the end. If it is a host, the host ends the room (`end_reason` host); otherwise the
 *   server does (empty_timeout). Both also disconnect other people in the room.
 *
 * EndRoomRequest: The room to end.
 *
 * PastRoomsRequest: The page of past rooms to list.
 * - room_ids: Only these rooms. Absent or null means all, and an empty list none.
 * - from: The number of rooms to skip.
 * - order_by: The order by end time.
 *
 * RescheduleRoomMetadata: The texts and features of the room that change.
 *
 * RescheduleRoomRequest: The changes of a scheduled room. The fields have the rules of the
 * creation. Absent fields keep their value.
 * - max_participants: An integer, or a string of the digits 0 to 9.
 * - empty_timeout: An integer, or a string of the digits 0 to 9.
 *
 * CreateScheduledRoomV3Request: A room that opens at its start time, in version 3. The SDK adds the
 * project_id.
 * - start_at: An ISO 8601 calendar date and time with `T`, at least to the minute; seconds and
 *   fractions are allowed. With `Z` or an offset it is that instant, otherwise a local time of the
 *   server's scheduling zone. The zone is UTC unless the operator has set another one. No call
 *   names it: ask the operator, or send an offset. The time must be in the future (60 seconds are
 *   tolerated) and at most 366 days ahead. A local time that daylight saving skips is rejected; one
 *   that occurs twice means the first.
 * - max_participants: From 1 to the limit of the plan, at most 1000.
 * - empty_timeout: Seconds that the room may stay empty after the last participant leaves. 0 means
 *   the project's default (300).
 * - client_room_id: Your own id for the room. It is unique in the project and can never be reused.
 *
 * @phpstan-type ProjectStatusRequest array{
 *     status: 'active'|'inactive',
 * }
 *
 * @phpstan-type BreakoutRoomFeatures array{
 *     allowed_number_rooms?: int|null,
 * }
 *
 * @phpstan-type RoomFeatures array{
 *     room_duration?: int|null,
 *     breakout_room_features?: BreakoutRoomFeatures|null,
 * }
 *
 * @phpstan-type RoomMetadata array{
 *     room_title: string,
 *     welcome_message: string,
 *     room_features?: RoomFeatures|null,
 * }
 *
 * @phpstan-type CreateScheduledRoomRequest array{
 *     start_at: string,
 *     max_participants: int|string,
 *     empty_timeout: int|string,
 *     name?: string|null,
 *     external_user_id?: string|null,
 *     logout_url?: string|null,
 *     webhook_url?: string|null,
 *     client_room_id?: string|null,
 *     metadata: RoomMetadata,
 * }
 *
 * @phpstan-type JoinEventUserInfo array{
 *     name: string,
 * }
 *
 * @phpstan-type JoinEventRequest array{
 *     room_id: string,
 *     user_info: JoinEventUserInfo,
 * }
 *
 * @phpstan-type CreateQuickRoomRequest array{
 *     name: string,
 *     max_participants: int|string,
 *     empty_timeout: int|string,
 *     external_user_id?: string|null,
 *     logout_url?: string|null,
 *     webhook_url?: string|null,
 *     client_room_id?: string|null,
 *     metadata: RoomMetadata,
 * }
 *
 * @phpstan-type StartScheduledRoomRequest array{
 *     room_id: string,
 *     name: string,
 *     external_user_id?: string|null,
 * }
 *
 * @phpstan-type JoinRoomUserInfo array{
 *     name: string,
 *     client_user_id?: string|null,
 *     is_admin?: bool|null,
 *     is_hidden?: bool|null,
 * }
 *
 * @phpstan-type JoinRoomRequest array{
 *     room_id: string,
 *     user_info: JoinRoomUserInfo,
 *     expires_in?: int|null,
 * }
 *
 * @phpstan-type InvitationLinkRequest array{
 *     room_id: string,
 *     role: 'admin'|'viewer',
 *     user_id?: string|null,
 *     expires_in?: int|null,
 * }
 *
 * @phpstan-type SimulatedPerson array{
 *     name: string,
 *     client_user_id?: string|null,
 *     is_admin?: bool|null,
 * }
 *
 * @phpstan-type MeetingSimulation array{
 *     room_id: string,
 *     seconds?: int|null,
 *     people?: list<SimulatedPerson>|null,
 * }
 *
 * @phpstan-type EndRoomRequest array{
 *     room_id: string,
 * }
 *
 * @phpstan-type PastRoomsRequest array{
 *     room_ids?: list<string>|null,
 *     from?: int|null,
 *     limit?: int|null,
 *     order_by?: 'ASC'|'DESC'|null,
 * }
 *
 * @phpstan-type RescheduleRoomMetadata array{
 *     room_title?: string|null,
 *     welcome_message?: string|null,
 *     room_features?: RoomFeatures|null,
 * }
 *
 * @phpstan-type RescheduleRoomRequest array{
 *     room_id: string,
 *     start_at?: string|null,
 *     max_participants?: int|string|null,
 *     empty_timeout?: int|string|null,
 *     name?: string|null,
 *     external_user_id?: string|null,
 *     logout_url?: string|null,
 *     webhook_url?: string|null,
 *     metadata?: RescheduleRoomMetadata|null,
 * }
 *
 * @phpstan-type CreateScheduledRoomV3Request array{
 *     start_at: string,
 *     max_participants: int,
 *     empty_timeout: int,
 *     client_room_id?: string|null,
 *     metadata: RoomMetadata,
 * }
 */
final class Requests
{
    private function __construct()
    {
    }
}
