<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The first participant joined. */
final class RoomStartedEvent implements Event
{
    public function __construct(
        /** The id of the event. It is the same in every delivery and list. */
        public readonly string $id,
        /** @var 'room.started'|string */
        public readonly string $type,
        /** The time of the event, in UTC with millisecond precision. */
        public readonly DateTimeImmutable $timestamp,
        /** The number of the event in the room, or in the project, without gaps. */
        public readonly int $sequence,
        /**
         * The sequence of the previous event for this receiver; 0 for the first event. If you do
         * not have that event, you have missed it. In a list of a room's events, it is the previous
         * event of any type.
         */
        public readonly int $previous,
        public readonly string $project_id,
        public readonly RoomData $data,
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
            id: $fields->required('id', Fields::string(...)),
            type: $fields->required('type', Fields::string(...)),
            timestamp: $fields->required('timestamp', Fields::time(...)),
            sequence: $fields->required('sequence', Fields::integer(...)),
            previous: $fields->required('previous', Fields::integer(...)),
            project_id: $fields->required('project_id', Fields::string(...)),
            data: $fields->required('data', RoomData::read(...)),
        );
    }
}
