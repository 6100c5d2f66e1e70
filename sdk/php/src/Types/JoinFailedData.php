<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The room that is full, and the person who could not join. */
final class JoinFailedData
{
    public function __construct(
        public readonly string $room_id,
        /** The current session of the room, or the last one if the room is over. */
        public readonly string $session_id,
        /** @var 'video'|'audio'|string */
        public readonly string $room_type,
        /** The person. There is no identity because the person has no seat. */
        public readonly JoinFailedPerson $refusal,
        /** Your own id for the room, if any. */
        public readonly ?string $client_room_id = null,
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
            session_id: $fields->required('session_id', Fields::string(...)),
            room_type: $fields->required('room_type', Fields::string(...)),
            refusal: $fields->required('refusal', JoinFailedPerson::read(...)),
            client_room_id: $fields->optional('client_room_id', Fields::string(...)),
            start_at: $fields->optional('start_at', Fields::time(...)),
        );
    }
}
