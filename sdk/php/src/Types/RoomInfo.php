<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The data of a room. Some numbers are strings because existing clients expect them. */
final class RoomInfo
{
    public function __construct(
        public readonly string $room_id,
        public readonly string $room_title,
        /** The session, `{room_id}.{n}`. Empty before the first join. */
        public readonly string $sid,
        /** The number of participants in the room now. */
        public readonly string $joined_participants,
        /** @var 1|int */
        public readonly int $is_running,
        /** @var 0|int */
        public readonly int $is_recording,
        /** @var 0|int */
        public readonly int $is_active_rtmp,
        /**
         * Always 0, because breakout rooms are shown as part of their room.
         *
         * @var 0|int
         */
        public readonly int $is_breakout_room,
        /** @var ''|string */
        public readonly string $parent_room_id,
        /** Unix time in seconds. */
        public readonly string $creation_time,
        /** JSON: the metadata of the creation, and default_lock_settings. */
        public readonly string $metadata,
        public readonly string $webhook_url,
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(array $data): self
    {
        return self::read($data, '');
    }

    /** @internal */
    public static function read(mixed $value, string $path): self
    {
        $fields = new Fields($value, $path);

        return new self(
            room_id: $fields->required('room_id', Fields::string(...)),
            room_title: $fields->required('room_title', Fields::string(...)),
            sid: $fields->required('sid', Fields::string(...)),
            joined_participants: $fields->required('joined_participants', Fields::string(...)),
            is_running: $fields->required('is_running', Fields::integer(...)),
            is_recording: $fields->required('is_recording', Fields::integer(...)),
            is_active_rtmp: $fields->required('is_active_rtmp', Fields::integer(...)),
            is_breakout_room: $fields->required('is_breakout_room', Fields::integer(...)),
            parent_room_id: $fields->required('parent_room_id', Fields::string(...)),
            creation_time: $fields->required('creation_time', Fields::string(...)),
            metadata: $fields->required('metadata', Fields::string(...)),
            webhook_url: $fields->required('webhook_url', Fields::string(...)),
        );
    }
}
