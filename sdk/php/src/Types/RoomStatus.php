<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** Whether people can join the room. */
final class RoomStatus
{
    public function __construct(
        /** True while the room is open or active. */
        public readonly bool $status,
        public readonly string $message,
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
            status: $fields->required('status', Fields::boolean(...)),
            message: $fields->required('message', Fields::string(...)),
            request_id: $request_id,
        );
    }
}
