<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The sums of the month. */
final class UsageTotals
{
    public function __construct(
        /** Rounded to two decimals. */
        public readonly float $participant_minutes,
        /** Rounded to two decimals. */
        public readonly float $audio_participant_minutes,
        /** Rounded to two decimals. */
        public readonly float $video_participant_minutes,
        public readonly int $rooms_created,
        /** The number of started sessions. */
        public readonly int $sessions,
        public readonly int $peak_concurrent_participants,
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
            participant_minutes: $fields->required('participant_minutes', Fields::number(...)),
            audio_participant_minutes: $fields->required('audio_participant_minutes', Fields::number(...)),
            video_participant_minutes: $fields->required('video_participant_minutes', Fields::number(...)),
            rooms_created: $fields->required('rooms_created', Fields::integer(...)),
            sessions: $fields->required('sessions', Fields::integer(...)),
            peak_concurrent_participants: $fields->required('peak_concurrent_participants', Fields::integer(...)),
        );
    }
}
