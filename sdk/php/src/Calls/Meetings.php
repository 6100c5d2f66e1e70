<?php

declare(strict_types=1);

namespace Parley\Calls;

use Parley\Exception\ParleyException;
use Parley\Internal\Api;
use Parley\Internal\ApiResponse;
use Parley\Internal\Arguments;
use Parley\Types\EndRoomResult;
use Parley\Types\InvitationLink;
use Parley\Types\MeetingSimulated;
use Parley\Types\PersonalLink;
use Parley\Types\Requests;
use Parley\Types\ScheduledRoomCreated;
use Parley\Types\ScheduledRoomStarted;

/**
 * The calls that run a meeting. They need api_key and gateway_secret; the API key decides the project, and rooms of
 * other projects are a NotFoundException.
 *
 * The server executes a signed request once. Two equal calls within one second have the same signature, so that the
 * second one is a ConflictException: give each of them an `idempotency_key` of its own. It is beside the other fields
 * and has 1 to 255 printable ASCII characters. With it, the call is repeated if no response arrives.
 *
 * @phpstan-import-type StartScheduledRoomRequest from Requests
 * @phpstan-import-type JoinRoomRequest from Requests
 * @phpstan-import-type InvitationLinkRequest from Requests
 * @phpstan-import-type MeetingSimulation from Requests
 * @phpstan-import-type RescheduleRoomRequest from Requests
 * @phpstan-import-type EndRoomRequest from Requests
 *
 * @internal only Parley\Client uses this trait
 */
trait Meetings
{
    /**
     * Opens a scheduled room before its start and returns a new link for its host. If the room is already open, it
     * only returns such a link.
     *
     * @param StartScheduledRoomRequest $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function startScheduledRoom(array $room): ScheduledRoomStarted
    {
        $response = $this->postAboutRoom('rooms/start_schedule_room', $room);
        return Api::readResponse($response, ScheduledRoomStarted::read(...));
    }

    /**
     * Creates a link for one person. Only the first browser that joins with it can use it.
     *
     * @param JoinRoomRequest $join and optionally idempotency_key, with which an equal call returns the same link
     *
     * @throws ParleyException
     */
    public function joinRoom(array $join): PersonalLink
    {
        $response = $this->postAboutRoom('rooms/join_room', $join);
        return Api::readResponse($response, PersonalLink::read(...));
    }

    /**
     * Creates a link to pass on.
     *
     * @param InvitationLinkRequest $invitation and optionally idempotency_key, with which an equal call returns the
     *     same link
     *
     * @throws ParleyException
     */
    public function createInvitationLink(array $invitation): InvitationLink
    {
        $response = $this->postAboutRoom('rooms/create_invitation_link', $invitation);
        return Api::readResponse($response, InvitationLink::read(...));
    }

    /**
     * Starts a simulated meeting in an open room of a test project, and returns before its end. Events, webhooks,
     * attendance and usage are those of a meeting of people.
     *
     * @param MeetingSimulation $simulation and optionally idempotency_key, with which an equal call starts no second
     *     meeting
     *
     * @throws ParleyException a ForbiddenException if the project is no test project
     */
    public function simulateMeeting(array $simulation): MeetingSimulated
    {
        $response = $this->postAboutRoom('rooms/simulate_meeting', $simulation);
        return Api::readResponse($response, MeetingSimulated::read(...));
    }

    /**
     * Changes a room that is still scheduled. The response of version 4 has a new link for the host; existing links
     * stay valid.
     *
     * @param RescheduleRoomRequest $change and optionally idempotency_key
     *
     * @throws ParleyException a ConflictException if the room is in another state
     */
    public function rescheduleRoom(array $change): ScheduledRoomCreated
    {
        $response = $this->postAboutRoom('rooms/reschedule_room', $change);
        return Api::readCreation($response, ScheduledRoomCreated::read(...));
    }

    /**
     * Ends a room for everybody. A room that is not open yet is cancelled. This call is never repeated.
     *
     * @param EndRoomRequest $room
     *
     * @throws ParleyException a ConflictException for a room that is over
     */
    public function endRoom(array $room): EndRoomResult
    {
        $roomId = (new Arguments($room, ['room_id']))->text('room_id');
        $response = $this->api->post('rooms/end_room', ['room_id' => $roomId]);
        return Api::readResponse($response, EndRoomResult::read(...));
    }

    /** @param array<array-key, mixed> $fields with a room_id */
    private function postAboutRoom(string $route, array $fields): ApiResponse
    {
        (new Arguments($fields, array_keys($fields)))->text('room_id');
        return $this->api->post($route, $fields);
    }
}
