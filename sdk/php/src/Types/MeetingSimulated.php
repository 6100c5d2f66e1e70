<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The meeting that has begun. */
final class MeetingSimulated
{
    public function __construct(
        public readonly bool $status,
        public readonly string $room_id,
        /** The number of people who join. */
        public readonly int $people,
        /** The time until the end of the room. */
        public readonly int $seconds,
        /** Identifies this request, from a response header. Quote it to support. */
        public readonly string $request_id = '',
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(array $data, string $request_id = ''): self
    {
        return self::read($data, '', $request_id);
    }

    /** @internal */
    public static function read(mixed $value, string $path, string $request_id = ''): self
    {
        $fields = new Fields($value, $path);

        return new self(
            status: $fields->required('status', Fields::boolean(...)),
            room_id: $fields->required('room_id', Fields::string(...)),
            people: $fields->required('people', Fields::integer(...)),
            seconds: $fields->required('seconds', Fields::integer(...)),
            request_id: $request_id,
        );
    }
}
