<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidArgumentException;

/**
 * Checks of the arguments of constructors and calls.
 *
 * @internal
 */
final class Settings
{
    private const MAX_IDEMPOTENCY_KEY = 255;

    private function __construct()
    {
    }

    /**
     * Returns scheme and host of a base URL. The exceptions do not repeat the URL, because it may contain a password.
     */
    public static function baseUrl(#[\SensitiveParameter] string $url): string
    {
        if (preg_match('/[^!-~]|["<>\\\\^`{|}]/', $url) === 1) {
            throw new InvalidArgumentException('base_url is not a valid URL');
        }
        if (preg_match('~\A(https?)://([^/?#]+)(.*)\z~i', $url, $part) !== 1) {
            throw new InvalidArgumentException('base_url must be an absolute http or https URL');
        }
        [, $scheme, $host, $rest] = $part;
        if (str_contains($host, '@')) {
            throw new InvalidArgumentException('base_url must not contain a user or password');
        }
        if ($rest !== '' && $rest !== '/') {
            throw new InvalidArgumentException('base_url must not have a path, query or fragment');
        }
        if (preg_match('/\A([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?\z/i', $host, $part) !== 1) {
            throw new InvalidArgumentException('base_url is not a valid URL');
        }
        if ((int) ($part[2] ?? '1') < 1 || (int) ($part[2] ?? '1') > 65_535) {
            throw new InvalidArgumentException('base_url must have a port between 1 and 65535');
        }
        return strtolower($scheme) . '://' . $host;
    }

    public static function seconds(string $name, float $seconds): float
    {
        if ($seconds <= 0 || !is_finite($seconds)) {
            throw new InvalidArgumentException("$name must be a number of seconds above 0");
        }
        return $seconds;
    }

    public static function maxAttempts(int $number): int
    {
        if ($number < 1) {
            throw new InvalidArgumentException("max_attempts must be at least 1, not $number");
        }
        return $number;
    }

    public static function version(int $version): int
    {
        if ($version !== 3 && $version !== 4) {
            throw new InvalidArgumentException("version must be 3 or 4, not $version");
        }
        return $version;
    }

    public static function userAgent(string $text): string
    {
        if (!self::isPrintable($text)) {
            throw new InvalidArgumentException('user_agent must be printable ASCII');
        }
        return $text;
    }

    /** Returns the header Idempotency-Key, '' for null. */
    public static function idempotencyKey(mixed $key): string
    {
        if ($key === null) {
            return '';
        }
        if (!is_string($key) || !self::isPrintable($key) || strlen($key) > self::MAX_IDEMPOTENCY_KEY) {
            throw new InvalidArgumentException(sprintf(
                'idempotency_key must have 1 to %d characters, all of them printable ASCII',
                self::MAX_IDEMPOTENCY_KEY,
            ));
        }
        // HTTP removes spaces around a header, and the signature would no longer match.
        if (trim($key, ' ') !== $key) {
            throw new InvalidArgumentException('idempotency_key must not begin or end with a space');
        }
        return $key;
    }

    private static function isPrintable(string $text): bool
    {
        return preg_match('/\A[ -~]+\z/', $text) === 1;
    }
}
