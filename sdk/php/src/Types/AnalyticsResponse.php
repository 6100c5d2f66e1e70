<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** The attendance of a room. */
final class AnalyticsResponse
{
    public function __construct(
        public readonly bool $status,
        public readonly string $msg,
        public readonly string $room_id,
        /** The time until which people who are still present are counted. */
        public readonly DateTimeImmutable $as_of,
        /**
         * Seconds for each identity, with millisecond precision.
         *
         * @var array<array-key, float>
         */
        public readonly array $participant_durations,
        /** The sum of all durations, in seconds. */
        public readonly float $total_duration,
        /**
         * The people, in the order of their first join.
         *
         * @var list<AttendeeInfo>
         */
        public readonly array $participants,
        /**
         * The first 1000 people whom join events reported, in order. They are in no other figure,
         * because the server did not see their connections.
         *
         * @var list<ReportedAttendee>
         */
        public readonly array $reported,
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
            msg: $fields->required('msg', Fields::string(...)),
            room_id: $fields->required('room_id', Fields::string(...)),
            as_of: $fields->required('as_of', Fields::time(...)),
            participant_durations: $fields->required('participant_durations', Fields::mapOf(Fields::number(...))),
            total_duration: $fields->required('total_duration', Fields::number(...)),
            participants: $fields->required('participants', Fields::listOf(AttendeeInfo::read(...))),
            reported: $fields->required('reported', Fields::listOf(ReportedAttendee::read(...))),
            request_id: $request_id,
        );
    }
}
