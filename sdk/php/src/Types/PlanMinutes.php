<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** Participant minutes. Without `value` if the number is unknown. */
final class PlanMinutes
{
    public function __construct(
        /** @var 'available'|'unavailable'|string */
        public readonly string $availability,
        /** Rounded to two decimals. */
        public readonly ?float $value = null,
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
            availability: $fields->required('availability', Fields::string(...)),
            value: $fields->optional('value', Fields::number(...)),
        );
    }
}
