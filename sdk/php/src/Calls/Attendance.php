<?php

declare(strict_types=1);

namespace Parley\Calls;

use Generator;
use Parley\Exception\ParleyException;
use Parley\Internal\Api;
use Parley\Internal\ApiResponse;
use Parley\Internal\Arguments;
use Parley\Types\ActiveRoom;
use Parley\Types\ActiveRooms;
use Parley\Types\AnalyticsResponse;
use Parley\Types\Event;
use Parley\Types\ListedRoom;
use Parley\Types\PastRoom;
use Parley\Types\PastRooms;
use Parley\Types\Requests;
use Parley\Types\RoomEventsResponse;
use Parley\Types\RoomList;
use Parley\Types\RoomStatus;

/**
 * The calls that read rooms and who was in them. They need api_key and gateway_secret.
 *
 * A Generator reads pages on demand, and throws a ParleyException when it reads a page that it cannot get.
 *
 * @phpstan-import-type PastRoomsRequest from Requests
 *
 * @internal only Parley\Client uses this trait
 */
trait Attendance
{
    /**
     * Shows whether people can join a room now.
     *
     * @param array{room_id: string} $room
     *
     * @throws ParleyException
     */
    public function roomStatus(array $room): RoomStatus
    {
        $response = $this->readRoom('rooms/room_status', $room);
        return Api::readResponse($response, RoomStatus::read(...));
    }

    /**
     * Returns a room and its participants.
     *
     * @param array{room_id: string} $room
     *
     * @throws ParleyException a NotFoundException for a room that is not open or active
     */
    public function activeRoom(array $room): ActiveRoom
    {
        $response = $this->readRoom('rooms/get_active_room_info', $room);
        return Api::readResponse($response, ActiveRoom::read(...), 'result');
    }

    /**
     * Returns all rooms of the project that are open or active, and their participants, the oldest first.
     * The response may be as large as 64 MiB.
     *
     * @throws ParleyException
     */
    public function activeRooms(): ActiveRooms
    {
        $response = $this->api->get($this->api->target('rooms/get_active_rooms_info'));
        return Api::readResponse($response, ActiveRooms::read(...), 'response');
    }

    /**
     * Returns the rooms of the project, the newest first.
     *
     * @param array{state?: 'scheduled'|'open'|'active'|'ended'|'cancelled'|'expired'} $filter
     *
     * @return Generator<int, ListedRoom>
     *
     * @throws ParleyException
     */
    public function rooms(array $filter = []): Generator
    {
        $state = (new Arguments($filter, ['state']))->optionalText('state');
        $this->api->requireGateway();
        return $this->readRooms($state);
    }

    /**
     * Returns one page of the rooms that are over.
     *
     * @param PastRoomsRequest $selection an empty list of room_ids selects no rooms
     *
     * @throws ParleyException
     */
    public function pastRooms(array $selection = []): PastRooms
    {
        $response = $this->api->post('rooms/fetch_past_rooms', $selection, onlyReads: true);
        return Api::readResponse($response, PastRooms::read(...), 'rooms');
    }

    /**
     * Returns all rooms that are over, beginning with `from`. `limit` is the size of a page. Rooms that end in the
     * meantime move the others; with `'order_by' => 'ASC'` no room is returned twice.
     *
     * @param PastRoomsRequest $selection
     *
     * @return Generator<int, PastRoom>
     *
     * @throws ParleyException
     */
    public function allPastRooms(array $selection = []): Generator
    {
        $this->api->requireGateway();
        return $this->readPastRooms($selection);
    }

    /**
     * Returns the attendance of a room so far. Durations are in seconds.
     *
     * @param array{room_id: string} $room
     *
     * @throws ParleyException
     */
    public function analytics(array $room): AnalyticsResponse
    {
        $response = $this->readRoom('analytics/get_analytics', $room);
        return Api::readResponse($response, AnalyticsResponse::read(...));
    }

    /**
     * Returns the attendance of a room as CSV in UTF-8 with a byte order mark, one line for each connection.
     *
     * @param array{room_id: string} $room
     *
     * @throws ParleyException
     */
    public function exportAttendance(array $room): string
    {
        return $this->readRoom('analytics/export_attendance', $room, '*/*')->text();
    }

    /**
     * Returns the events of a room, the oldest first, until the last one that exists now. A later call with the
     * sequence of the last event continues after it.
     *
     * @param array{room_id: string, after?: int} $range only events whose sequence is higher than `after` are
     *     returned; by default all
     *
     * @return Generator<int, Event>
     *
     * @throws ParleyException
     */
    public function roomEvents(array $range): Generator
    {
        $arguments = new Arguments($range, ['room_id', 'after']);
        $target = '/api/v4/rooms/' . $arguments->pathSegment('room_id') . '/events';
        $after = $arguments->optionalInteger('after', 0) ?? 0;
        $this->api->requireGateway();
        return $this->readEvents($target, $after);
    }

    /** @param array<array-key, mixed> $room */
    private function readRoom(string $route, array $room, string $accept = 'application/json'): ApiResponse
    {
        $roomId = (new Arguments($room, ['room_id']))->text('room_id');
        return $this->api->get($this->api->target($route), ['room_id' => $roomId], $accept);
    }

    /** @return Generator<int, ListedRoom> */
    private function readRooms(?string $state): Generator
    {
        $cursor = null;
        do {
            $query = ['state' => $state, 'limit' => 100, 'cursor' => $cursor];
            $response = $this->api->get($this->api->target('rooms/list_rooms'), $query);
            $page = Api::readResponse($response, RoomList::read(...));
            foreach ($page->rooms as $room) {
                yield $room;
            }
            if ($page->next_cursor !== null && $page->next_cursor === $cursor) {
                throw $response->unexpected('next_cursor is the cursor of the same page');
            }
            $cursor = $page->next_cursor ?? '';
        } while ($cursor !== '');
    }

    /**
     * @param array<array-key, mixed> $selection
     *
     * @return Generator<int, PastRoom>
     */
    private function readPastRooms(array $selection): Generator
    {
        do {
            $page = $this->pastRooms($selection);
            foreach ($page->rooms_list as $room) {
                yield $room;
            }
            $selection['from'] = (int) ($selection['from'] ?? 0) + count($page->rooms_list);
        } while ($page->rooms_list !== [] && $selection['from'] < (int) $page->total_rooms);
    }

    /** @return Generator<int, Event> */
    private function readEvents(string $target, int $after): Generator
    {
        do {
            $response = $this->api->get($target, ['after' => $after, 'limit' => 100]);
            $page = Api::readResponse($response, RoomEventsResponse::read(...));
            if ($page->has_more && $page->next_after <= $after) {
                throw $response->unexpected('next_after does not increase');
            }
            foreach ($page->events as $event) {
                yield $event;
            }
            $after = $page->next_after;
        } while ($page->has_more);
    }
}
