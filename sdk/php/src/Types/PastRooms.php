<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** One page of the past rooms, ordered by the time of their end. */
final class PastRooms
{
    public function __construct(
        public readonly int $from,
        public readonly int $limit,
        /** @var 'ASC'|'DESC'|string */
        public readonly string $order_by,
        /** The total number of matching rooms. */
        public readonly string $total_rooms,
        /** @var list<PastRoom> */
        public readonly array $rooms_list,
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
            from: $fields->required('from', Fields::integer(...)),
            limit: $fields->required('limit', Fields::integer(...)),
            order_by: $fields->required('order_by', Fields::string(...)),
            total_rooms: $fields->required('total_rooms', Fields::string(...)),
            rooms_list: $fields->required('rooms_list', Fields::listOf(PastRoom::read(...))),
            request_id: $request_id,
        );
    }
}
