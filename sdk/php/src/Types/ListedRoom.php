<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** A room in the list of rooms. */
final class ListedRoom
{
    public function __construct(
        public readonly string $room_id,
        /** @var 'video'|'audio'|string */
        public readonly string $room_type,
        /** @var 'scheduled'|'open'|'active'|'ended'|'cancelled'|'expired'|string */
        public readonly string $state,
        public readonly string $room_title,
        /** The number of participants in the room now. */
        public readonly int $joined_participants,
        public readonly int $max_participants,
        public readonly DateTimeImmutable $created_at,
        public readonly ?string $client_room_id = null,
        /** @var 'host'|'api'|'empty_timeout'|'duration'|'project_suspended'|'server'|string|null */
        public readonly ?string $end_reason = null,
        /** The start time of a scheduled room. */
        public readonly ?DateTimeImmutable $start_at = null,
        public readonly ?DateTimeImmutable $opened_at = null,
        /** The time of the first join. */
        public readonly ?DateTimeImmutable $started_at = null,
        public readonly ?DateTimeImmutable $ended_at = null,
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
            state: $fields->required('state', Fields::string(...)),
            room_title: $fields->required('room_title', Fields::string(...)),
            joined_participants: $fields->required('joined_participants', Fields::integer(...)),
            max_participants: $fields->required('max_participants', Fields::integer(...)),
            created_at: $fields->required('created_at', Fields::time(...)),
            client_room_id: $fields->optional('client_room_id', Fields::string(...)),
            end_reason: $fields->optional('end_reason', Fields::string(...)),
            start_at: $fields->optional('start_at', Fields::time(...)),
            opened_at: $fields->optional('opened_at', Fields::time(...)),
            started_at: $fields->optional('started_at', Fields::time(...)),
            ended_at: $fields->optional('ended_at', Fields::time(...)),
        );
    }
}
