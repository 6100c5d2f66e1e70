<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** A room that is open or active, and its participants. */
final class ActiveRoom
{
    public function __construct(
        public readonly RoomInfo $room_info,
        /** @var list<ParticipantInfo> */
        public readonly array $participants_info,
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
            room_info: $fields->required('room_info', RoomInfo::read(...)),
            participants_info: $fields->required('participants_info', Fields::listOf(ParticipantInfo::read(...))),
            request_id: $request_id,
        );
    }
}
