<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * The waits between attempts, in seconds.
 *
 * @internal
 */
final class Backoff
{
    /** A call fails instead of waiting longer. */
    public const LONGEST = 30.0;

    private const FIRST = 0.25;

    /** The longest Retry-After that is reported: a day. */
    private const LONGEST_RETRY_AFTER = 86_400;

    private function __construct()
    {
    }

    /**
     * Returns the wait after an attempt: half to all of a duration that doubles with each attempt. A positive
     * $retryAfter is a lower bound, to which some time is added so that clients do not return together.
     *
     * @param int $attempt 1 for the first one
     */
    public static function wait(int $attempt, ?int $retryAfter): float
    {
        $longest = min(self::LONGEST, self::FIRST * 2 ** min($attempt - 1, 10));
        $wait = $longest * (1 + self::random()) / 2;
        return $retryAfter > 0 ? max($wait, $retryAfter + self::FIRST * self::random()) : $wait;
    }

    /**
     * Returns the seconds of a header Retry-After, which can be a number or a date, or null without a valid header.
     *
     * @param int|null $date the header Date of the same response, in Unix seconds; without it our clock counts
     */
    public static function retryAfter(string $header, ?int $date): ?int
    {
        if (preg_match('/\A[+-]?[0-9]+\z/', $header) === 1) {
            // The cast of a longer number is PHP_INT_MAX or PHP_INT_MIN.
            return max(0, min((int) $header, self::LONGEST_RETRY_AFTER));
        }
        $until = HttpDate::parse($header);
        if ($until === null) {
            return null;
        }
        return max(0, min($until - ($date ?? time()), self::LONGEST_RETRY_AFTER));
    }

    private static function random(): float
    {
        return random_int(0, 1_000_000) / 1_000_000;
    }
}
