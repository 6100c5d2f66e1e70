<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The participant. There are no events about hidden participants. */
final class EventParticipant
{
    public function __construct(
        /** Your client_user_id for the person, or an id that the server assigned. */
        public readonly string $identity,
        public readonly string $name,
        /** @var 'host'|'cohost'|'guest'|string */
        public readonly string $role,
        /** The session of the room or of the breakout room. */
        public readonly string $session_id,
        /** The same in the joined and the left event of a connection. */
        public readonly string $connection_id,
        public readonly DateTimeImmutable $joined_at,
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
            session_id: $fields->required('session_id', Fields::string(...)),
            connection_id: $fields->required('connection_id', Fields::string(...)),
            joined_at: $fields->required('joined_at', Fields::time(...)),
        );
    }
}
