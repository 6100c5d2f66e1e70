<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * Dates in HTTP headers (RFC 9110, section 5.6.7).
 *
 * @internal
 */
final class HttpDate
{
    /** The three forms. The weekday is left out, because PHP would move a date to it. */
    private const FORMS = [
        '/\A[A-Z][a-z]{2}, (\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d) GMT\z/' => '!d M Y H:i:s',
        '/\A[A-Z][a-z]{5,8}, (\d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d) GMT\z/' => '!d-M-y H:i:s',
        '/\A[A-Z][a-z]{2} ([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\z/' => '!M j H:i:s Y',
    ];

    private function __construct()
    {
    }

    /** Returns the Unix time of a date, or null for another text. */
    public static function parse(string $text): ?int
    {
        foreach (self::FORMS as $pattern => $format) {
            if (preg_match($pattern, $text, $match) !== 1) {
                continue;
            }
            $rest = str_replace('  ', ' ', $match[1]);
            $date = \DateTimeImmutable::createFromFormat($format, $rest, new \DateTimeZone('UTC'));
            // PHP only warns about the 31st of April and takes the next day instead.
            $problems = \DateTimeImmutable::getLastErrors();
            if ($date !== false && ($problems === false || $problems['warning_count'] === 0)) {
                return $date->getTimestamp();
            }
        }
        return null;
    }
}
