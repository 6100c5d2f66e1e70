<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/**
 * What the participant's role may send in this room. A host may have unlocked more for a single
 * person.
 */
final class ParticipantPermission
{
    public function __construct(
        public readonly bool $can_subscribe,
        public readonly bool $can_publish_microphone,
        public readonly bool $can_publish_camera,
        public readonly bool $can_publish_screen_share,
        public readonly bool $can_chat,
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
            can_subscribe: $fields->required('can_subscribe', Fields::boolean(...)),
            can_publish_microphone: $fields->required('can_publish_microphone', Fields::boolean(...)),
            can_publish_camera: $fields->required('can_publish_camera', Fields::boolean(...)),
            can_publish_screen_share: $fields->required('can_publish_screen_share', Fields::boolean(...)),
            can_chat: $fields->required('can_chat', Fields::boolean(...)),
        );
    }
}
