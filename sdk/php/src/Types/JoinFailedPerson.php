<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The person. There is no identity because the person has no seat. */
final class JoinFailedPerson
{
    public function __construct(
        /** The name that the person entered, or empty. */
        public readonly string $name,
        /** @var 'room_full'|string */
        public readonly string $code,
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
            name: $fields->required('name', Fields::string(...)),
            code: $fields->required('code', Fields::string(...)),
        );
    }
}
