<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The new status of the project. */
final class ProjectStatusChangedData
{
    public function __construct(
        /** @var 'active'|'inactive'|string */
        public readonly string $status,
        /** Whether the operator has suspended the project. */
        public readonly bool $suspended,
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
            status: $fields->required('status', Fields::string(...)),
            suspended: $fields->required('suspended', Fields::boolean(...)),
        );
    }
}
