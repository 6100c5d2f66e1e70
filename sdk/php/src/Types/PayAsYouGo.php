<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/**
 * Only for organizations that pay as they go. Only `availability` while no price is set.
 * `amount_due` is exactly `unit_price` times `participant_minutes`.
 */
final class PayAsYouGo
{
    public function __construct(
        /** @var 'available'|'unavailable'|string */
        public readonly string $availability,
        public readonly ?string $currency = null,
        /** @var 'participant_minute'|string|null */
        public readonly ?string $unit = null,
        public readonly ?string $unit_price = null,
        public readonly ?string $amount_due = null,
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
            currency: $fields->optional('currency', Fields::string(...)),
            unit: $fields->optional('unit', Fields::string(...)),
            unit_price: $fields->optional('unit_price', Fields::string(...)),
            amount_due: $fields->optional('amount_due', Fields::string(...)),
        );
    }
}
