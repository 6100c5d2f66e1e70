<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** A person whom a join event reported. */
final class ReportedAttendee
{
    public function __construct(
        public readonly string $name,
        /** The time of the join event. */
        public readonly DateTimeImmutable $at,
        /** @var 'external'|string */
        public readonly string $source,
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
            at: $fields->required('at', Fields::time(...)),
            source: $fields->required('source', Fields::string(...)),
        );
    }
}
