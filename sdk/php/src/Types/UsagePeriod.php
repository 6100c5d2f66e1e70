<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The calendar month. */
final class UsagePeriod
{
    public function __construct(
        public readonly DateTimeImmutable $start,
        /** The start of the next period. */
        public readonly DateTimeImmutable $end,
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
            start: $fields->required('start', Fields::time(...)),
            end: $fields->required('end', Fields::time(...)),
        );
    }
}
