<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The credential whose old value stops working soon. */
final class KeyOverlapEndingData
{
    public function __construct(
        /**
         * The kind of the rotated credential.
         *
         * @var 'api_key'|'project_secret'|string
         */
        public readonly string $credential,
        /** The time until which the old credential works. */
        public readonly DateTimeImmutable $overlap_ends_at,
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
            credential: $fields->required('credential', Fields::string(...)),
            overlap_ends_at: $fields->required('overlap_ends_at', Fields::time(...)),
        );
    }
}
