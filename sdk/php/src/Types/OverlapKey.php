<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The previous API key, which works until the overlap of a rotation ends. */
final class OverlapKey
{
    public function __construct(
        public readonly string $id,
        public readonly string $api_key,
        /** @var 'retiring'|string */
        public readonly string $status,
        public readonly DateTimeImmutable $retiring_since,
        public readonly DateTimeImmutable $overlap_ends_at,
        /**
         * The number of authenticated calls of any version with this key since the rotation. While
         * it rises, a client still uses the old key.
         */
        public readonly int $requests_since_rotation,
        public readonly ?DateTimeImmutable $last_used_at = null,
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
            api_key: $fields->required('api_key', Fields::string(...)),
            status: $fields->required('status', Fields::string(...)),
            retiring_since: $fields->required('retiring_since', Fields::time(...)),
            overlap_ends_at: $fields->required('overlap_ends_at', Fields::time(...)),
            requests_since_rotation: $fields->required('requests_since_rotation', Fields::integer(...)),
            last_used_at: $fields->optional('last_used_at', Fields::time(...)),
        );
    }
}
