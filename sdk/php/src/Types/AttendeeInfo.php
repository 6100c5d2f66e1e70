<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** A person who was in the room, over all connections. */
final class AttendeeInfo
{
    public function __construct(
        /** Your client_user_id for the person, or an id that the server assigned. */
        public readonly string $identity,
        public readonly string $name,
        /** @var 'host'|'cohost'|'guest'|string */
        public readonly string $role,
        /** The time of the first join. */
        public readonly DateTimeImmutable $joined_at,
        /** The seconds that the person was in the room, over all connections. */
        public readonly float $duration,
        /** The number of connections. */
        public readonly int $connections,
        /** The time of the last leave. Absent while the person is present. */
        public readonly ?DateTimeImmutable $left_at = null,
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
            identity: $fields->required('identity', Fields::string(...)),
            name: $fields->required('name', Fields::string(...)),
            role: $fields->required('role', Fields::string(...)),
            joined_at: $fields->required('joined_at', Fields::time(...)),
            duration: $fields->required('duration', Fields::number(...)),
            connections: $fields->required('connections', Fields::integer(...)),
            left_at: $fields->optional('left_at', Fields::time(...)),
        );
    }
}
