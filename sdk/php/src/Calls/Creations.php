<?php

declare(strict_types=1);

namespace Parley\Calls;

use Parley\Exception\ParleyException;
use Parley\Types\QuickRoomCreated;
use Parley\Types\Requests;
use Parley\Types\ScheduledRoomCreated;

/**
 * The calls that create rooms. They need project_id and project_secret, or project_id and api_key.
 *
 * Each of them takes the fields of the request in one array, and beside them `idempotency_key`: for 24 hours the same
 * key with the same fields returns the first response again, and with other fields it is an InvalidRequestException.
 * It has 1 to 255 printable ASCII characters. With an idempotency_key or a client_room_id the call is repeated if no
 * response arrives.
 *
 * @phpstan-import-type CreateQuickRoomRequest from Requests
 * @phpstan-import-type CreateScheduledRoomRequest from Requests
 * @phpstan-import-type CreateScheduledRoomV3Request from Requests
 *
 * @internal only Parley\Client uses this trait
 */
trait Creations
{
    /**
     * Creates an audio room that is open at once.
     *
     * @param CreateQuickRoomRequest $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function createQuickAudioRoom(array $room): QuickRoomCreated
    {
        $target = $this->api->target('rooms/create_quick_audio_room');
        return $this->api->create($target, $room, QuickRoomCreated::read(...));
    }

    /**
     * Creates a video room that is open at once.
     *
     * @param CreateQuickRoomRequest $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function createQuickVideoRoom(array $room): QuickRoomCreated
    {
        $target = $this->api->target('rooms/create_quick_video_room');
        return $this->api->create($target, $room, QuickRoomCreated::read(...));
    }

    /**
     * Creates an audio room that opens at its start time, with version 4.
     *
     * @param CreateScheduledRoomRequest $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function createScheduledAudioRoom(array $room): ScheduledRoomCreated
    {
        $target = '/api/v4/rooms/create_schedule_audio_room';
        return $this->api->create($target, $room, ScheduledRoomCreated::read(...));
    }

    /**
     * Creates a video room that opens at its start time, with version 4.
     *
     * @param CreateScheduledRoomRequest $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function createScheduledVideoRoom(array $room): ScheduledRoomCreated
    {
        $target = '/api/v4/rooms/create_schedule_video_room';
        return $this->api->create($target, $room, ScheduledRoomCreated::read(...));
    }

    /**
     * Creates an audio room that opens at its start time, with version 3, where start_at is an instant in any time
     * zone. The response has no final_link.
     *
     * @param CreateScheduledRoomV3Request $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function createScheduledAudioRoomV3(array $room): ScheduledRoomCreated
    {
        $target = '/api/v3/rooms/create_schedule_audio_room';
        return $this->api->create($target, $room, ScheduledRoomCreated::read(...));
    }

    /**
     * Creates a video room that opens at its start time, with version 3, where start_at is an instant in any time
     * zone. The response has no final_link.
     *
     * @param CreateScheduledRoomV3Request $room and optionally idempotency_key
     *
     * @throws ParleyException
     */
    public function createScheduledVideoRoomV3(array $room): ScheduledRoomCreated
    {
        $target = '/api/v3/rooms/create_schedule_video_room';
        return $this->api->create($target, $room, ScheduledRoomCreated::read(...));
    }
}
