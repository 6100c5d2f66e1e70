<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The usage of the plan. Only `availability` if no plan provider knows the plan. */
final class PlanUsage
{
    public function __construct(
        /** @var 'available'|'unavailable'|string */
        public readonly string $availability,
        public readonly ?string $name = null,
        public readonly ?PlanMinutes $included_minutes = null,
        public readonly ?PlanMinutes $used_minutes = null,
        public readonly ?PlanMinutes $remaining_minutes = null,
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
            name: $fields->optional('name', Fields::string(...)),
            included_minutes: $fields->optional('included_minutes', PlanMinutes::read(...)),
            used_minutes: $fields->optional('used_minutes', PlanMinutes::read(...)),
            remaining_minutes: $fields->optional('remaining_minutes', PlanMinutes::read(...)),
        );
    }
}
