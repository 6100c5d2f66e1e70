<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The API key in use. */
final class CurrentKey
{
    public function __construct(
        public readonly string $id,
        /** The prefix of the key and five more characters, `…` and the last four. */
        public readonly string $api_key,
        /** @var 'active'|string */
        public readonly string $status,
        /** @var 'SVC-HMAC-V5-1'|string */
        public readonly string $signing_profile,
        public readonly DateTimeImmutable $created_at,
        /**
         * The time of the last authenticated call of any version with this key, including this one.
         */
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
            signing_profile: $fields->required('signing_profile', Fields::string(...)),
            created_at: $fields->required('created_at', Fields::time(...)),
            last_used_at: $fields->optional('last_used_at', Fields::time(...)),
        );
    }
}
