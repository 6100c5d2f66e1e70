<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** A room that has ended, expired or been cancelled. */
final class PastRoom
{
    public function __construct(
        public readonly string $room_id,
        /** The last session, `{room_id}.{n}`. Empty if nobody joined. */
        public readonly string $room_sid,
        public readonly string $room_title,
        public readonly DateTimeImmutable $created,
        public readonly DateTimeImmutable $ended,
        /** The number of people who joined. */
        public readonly string $joined_participants,
        /**
         * Always empty, because there are no files. See get_analytics.
         *
         * @var ''|string
         */
        public readonly string $analytics_file_id,
        public readonly string $webhook_url,
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
            room_id: $fields->required('room_id', Fields::string(...)),
            room_sid: $fields->required('room_sid', Fields::string(...)),
            room_title: $fields->required('room_title', Fields::string(...)),
            created: $fields->required('created', Fields::time(...)),
            ended: $fields->required('ended', Fields::time(...)),
            joined_participants: $fields->required('joined_participants', Fields::string(...)),
            analytics_file_id: $fields->required('analytics_file_id', Fields::string(...)),
            webhook_url: $fields->required('webhook_url', Fields::string(...)),
        );
    }
}
