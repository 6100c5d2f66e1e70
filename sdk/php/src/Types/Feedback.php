<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The participant and the rating. */
final class Feedback
{
    public function __construct(
        /** Your client_user_id for the person, or an id that the server assigned. */
        public readonly string $identity,
        public readonly string $name,
        /** @var 'host'|'cohost'|'guest'|string */
        public readonly string $role,
        /** @var 'good'|'bad'|string */
        public readonly string $rating,
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
            rating: $fields->required('rating', Fields::string(...)),
        );
    }
}
