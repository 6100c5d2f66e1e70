<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** One page of the list of rooms, the newest first. */
final class RoomList
{
    public function __construct(
        /** @var list<ListedRoom> */
        public readonly array $rooms,
        /** Present if there are older rooms. */
        public readonly ?string $next_cursor = null,
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
            rooms: $fields->required('rooms', Fields::listOf(ListedRoom::read(...))),
            next_cursor: $fields->optional('next_cursor', Fields::string(...)),
            request_id: $request_id,
        );
    }
}
