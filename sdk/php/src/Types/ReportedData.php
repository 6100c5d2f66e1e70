<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The room, and the person whom another system reported. */
final class ReportedData
{
    public function __construct(
        public readonly string $room_id,
        /** @var 'video'|'audio'|string */
        public readonly string $room_type,
        /** The person. There is no identity because the person has no seat. */
        public readonly ReportedPerson $mark,
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
            mark: $fields->required('mark', ReportedPerson::read(...)),
            client_room_id: $fields->optional('client_room_id', Fields::string(...)),
            session_id: $fields->optional('session_id', Fields::string(...)),
            start_at: $fields->optional('start_at', Fields::time(...)),
        );
    }
}
