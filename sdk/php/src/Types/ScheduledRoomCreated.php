<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** A scheduled room. */
final class ScheduledRoomCreated
{
    public function __construct(
        public readonly bool $status,
        public readonly string $message,
        /** @var 'video'|'audio'|string */
        public readonly string $room_type,
        /** RFC 3339, in the server's scheduling zone. */
        public readonly DateTimeImmutable $start_time,
        public readonly string $room_id,
        /** The value that was sent. */
        public readonly ?string $client_room_id = null,
        /**
         * The link of the creator. The first browser that joins with it becomes the host. Without
         * the part after `#`, it is the link for guests. Version 3 does not send it.
         */
        public readonly ?string $final_link = null,
        /** Identifies this request, from a response header. Quote it to support. */
        public readonly string $request_id = '',
        /**
         * The names of fields that were sent and have no effect, from the response header
         * X-Ignored-Fields.
         *
         * @var list<string>
         */
        public readonly array $ignored_fields = [],
        /**
         * The requested features that were lowered to the limit of the plan, from the header
         * X-Feature-Adjusted.
         *
         * @var list<string>
         */
        public readonly array $features_adjusted = [],
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @param list<string> $ignored_fields
     * @param list<string> $features_adjusted
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(
        array $data,
        string $request_id = '',
        array $ignored_fields = [],
        array $features_adjusted = [],
    ): self {
        return self::read($data, '', $request_id, $ignored_fields, $features_adjusted);
    }

    /**
     * @internal
     * @param list<string> $ignored_fields
     * @param list<string> $features_adjusted
     */
    public static function read(
        mixed $value,
        string $path,
        string $request_id = '',
        array $ignored_fields = [],
        array $features_adjusted = [],
    ): self {
        $fields = new Fields($value, $path);

        return new self(
            status: $fields->required('status', Fields::boolean(...)),
            message: $fields->required('message', Fields::string(...)),
            room_type: $fields->required('room_type', Fields::string(...)),
            start_time: $fields->required('start_time', Fields::time(...)),
            room_id: $fields->required('room_id', Fields::string(...)),
            client_room_id: $fields->optional('client_room_id', Fields::string(...)),
            final_link: $fields->optional('final_link', Fields::string(...)),
            request_id: $request_id,
            ignored_fields: $ignored_fields,
            features_adjusted: $features_adjusted,
        );
    }
}
