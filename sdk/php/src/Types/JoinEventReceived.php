<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The join event is in the event log of the room. */
final class JoinEventReceived
{
    public function __construct(
        public readonly bool $joined,
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
            joined: $fields->required('joined', Fields::boolean(...)),
            request_id: $request_id,
        );
    }
}
