<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The room that is over, and the reason. */
final class EndedRoomData
{
    public function __construct(
        public readonly string $room_id,
        /** @var 'video'|'audio'|string */
        public readonly string $room_type,
        /**
         * The reason why the room is over. Present only if it is over.
         *
         * @var 'host'|'api'|'empty_timeout'|'duration'|'project_suspended'|'server'|string
         */
        public readonly string $end_reason,
        /** Your own id for the room, if any. */
        public readonly ?string $client_room_id = null,
        /**
         * The current session of the room, or the last one if the room is over. Absent before the
         * first session.
         */
        public readonly ?string $session_id = null,
        /** The start time of a scheduled room. */
        public readonly ?DateTimeImmutable $start_at = null,
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
            room_type: $fields->required('room_type', Fields::string(...)),
            end_reason: $fields->required('end_reason', Fields::string(...)),
            client_room_id: $fields->optional('client_room_id', Fields::string(...)),
            session_id: $fields->optional('session_id', Fields::string(...)),
            start_at: $fields->optional('start_at', Fields::time(...)),
        );
    }
}
