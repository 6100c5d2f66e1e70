<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * Texts of a server in an exception.
 *
 * @internal
 */
final class Text
{
    /** The longest message, in characters. */
    public const MESSAGE = 500;

    /** The longest code or ID of a request, in characters. */
    public const NAME = 100;

    private function __construct()
    {
    }

    /** Returns a text on one line, in printable characters, and cut to a number of characters. */
    public static function printable(string $text, int $limit): string
    {
        if (preg_match('//u', $text) !== 1) { // not UTF-8
            $text = (string) preg_replace('/[^ -~]/', "\u{FFFD}", $text);
        }
        $printable = (string) preg_replace('/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u', "\u{FFFD}", $text);
        preg_match_all('/./u', $printable, $characters);
        if (count($characters[0]) <= $limit) {
            return $printable;
        }
        return implode('', array_slice($characters[0], 0, $limit - 1)) . '…';
    }
}
