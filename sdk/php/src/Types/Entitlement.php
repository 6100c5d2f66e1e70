<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** One entitlement of the plan. */
final class Entitlement
{
    public function __construct(
        /** @var 'max_participants'|'room_duration'|'breakout_rooms'|string */
        public readonly string $key,
        public readonly int $value,
        /** @var 'participants'|'minutes'|'rooms'|string */
        public readonly string $unit,
        /** @var 'room'|string */
        public readonly string $scope,
        /** `plan:` and the plan's name. */
        public readonly string $source,
        /** @var 'available'|'unavailable'|string */
        public readonly string $availability,
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
            key: $fields->required('key', Fields::string(...)),
            value: $fields->required('value', Fields::integer(...)),
            unit: $fields->required('unit', Fields::string(...)),
            scope: $fields->required('scope', Fields::string(...)),
            source: $fields->required('source', Fields::string(...)),
            availability: $fields->required('availability', Fields::string(...)),
        );
    }
}
