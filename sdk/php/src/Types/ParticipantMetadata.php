<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The role of a participant, and the breakout room. */
final class ParticipantMetadata
{
    public function __construct(
        /** @var 'host'|'cohost'|'guest'|string */
        public readonly string $role,
        public readonly bool $is_admin,
        /** The number of the participant's breakout room, 0 for the main room. */
        public readonly int $breakout_room,
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
            role: $fields->required('role', Fields::string(...)),
            is_admin: $fields->required('is_admin', Fields::boolean(...)),
            breakout_room: $fields->required('breakout_room', Fields::integer(...)),
        );
    }
}
