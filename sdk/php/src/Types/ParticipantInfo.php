<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** A participant of an open or active room. */
final class ParticipantInfo
{
    public function __construct(
        /** Your client_user_id for the person, or an id that the server assigned. */
        public readonly string $identity,
        public readonly string $name,
        /** The id of the connection. */
        public readonly string $sid,
        /** @var 'ACTIVE'|string */
        public readonly string $state,
        /** Unix time in seconds. */
        public readonly string $joined_at,
        /** Whether the participant may send audio or video. */
        public readonly bool $is_publisher,
        public readonly ParticipantMetadata $metadata,
        /**
         * What the participant's role may send in this room. A host may have unlocked more for a
         * single person.
         */
        public readonly ParticipantPermission $permission,
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
            sid: $fields->required('sid', Fields::string(...)),
            state: $fields->required('state', Fields::string(...)),
            joined_at: $fields->required('joined_at', Fields::string(...)),
            is_publisher: $fields->required('is_publisher', Fields::boolean(...)),
            metadata: $fields->required('metadata', ParticipantMetadata::read(...)),
            permission: $fields->required('permission', ParticipantPermission::read(...)),
        );
    }
}
