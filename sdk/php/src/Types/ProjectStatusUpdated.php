<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The new status of the project. */
final class ProjectStatusUpdated
{
    public function __construct(
        public readonly string $message,
        /** @var 'active'|'inactive'|string */
        public readonly string $status,
        /** Identifies this request, from a response header. Quote it to support. */
        public readonly string $request_id = '',
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(array $data, string $request_id = ''): self
    {
        return self::read($data, '', $request_id);
    }

    /** @internal */
    public static function read(mixed $value, string $path, string $request_id = ''): self
    {
        $fields = new Fields($value, $path);

        return new self(
            message: $fields->required('message', Fields::string(...)),
            status: $fields->required('status', Fields::string(...)),
            request_id: $request_id,
        );
    }
}
