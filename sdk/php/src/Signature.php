<?php

declare(strict_types=1);

namespace Parley;

use Parley\Exception\InvalidArgumentException;
use Parley\Internal\JoinLink;

/**
 * The signatures of Parley: of requests, webhooks and join links. Client and Webhook use them; call them yourself only
 * if you send requests with other tools.
 *
 * Each signature is an HMAC-SHA256. Its key is the text of the credential as it is shown, with its prefix. Only for
 * webhooks, the key is the decoded secret. Comparisons take constant time.
 */
final class Signature
{
    /** The name of the profile that signs the whole request and its time, the first line of the signed text. */
    public const PROFILE = 'SVC-HMAC-V5-1';

    /** How many seconds a timestamp may differ from the clock, in either direction, unless the operator changes it. */
    public const TOLERANCE = 300;

    /** The result of freshness() for a timestamp within the tolerance. */
    public const FRESH = 'fresh';

    /** The result of freshness() for a timestamp that is too old. */
    public const BEHIND = 'behind';

    /** The result of freshness() for a timestamp that is too far in the future. */
    public const AHEAD = 'ahead';

    /** The result of freshness() for a timestamp that is not a number of Unix seconds. */
    public const MALFORMED = 'malformed';

    /** The only header of a join link. The server accepts no other algorithm. */
    private const JOIN_LINK_HEADER = '{"alg":"HS256","typ":"JWT"}';

    private const WEBHOOK_PREFIX = 'whsec_';

    private function __construct()
    {
    }

    /**
     * Returns the text that a Gateway signature covers: six parts with one line feed between two parts, and nothing
     * after the body.
     *
     * @param string $method is converted to upper case
     * @param string $target path and query, byte for byte as they are sent
     * @param string $timestamp Unix seconds in ASCII digits, as in the header timestamp
     * @param string $idempotencyKey the header Idempotency-Key of a POST, otherwise ''
     * @param string $body the raw body, '' for GET
     */
    public static function gatewayText(
        string $method,
        string $target,
        string $timestamp,
        string $idempotencyKey = '',
        string $body = '',
    ): string {
        return implode("\n", [self::PROFILE, strtoupper($method), $target, $timestamp, $idempotencyKey, $body]);
    }

    /**
     * Returns the Gateway signature over gatewayText(): 64 hexadecimal digits in lower case.
     *
     * @param string $secret the Gateway secret
     */
    public static function gateway(
        #[\SensitiveParameter] string $secret,
        string $method,
        string $target,
        string $timestamp,
        string $idempotencyKey = '',
        string $body = '',
    ): string {
        $text = self::gatewayText($method, $target, $timestamp, $idempotencyKey, $body);
        return hash_hmac('sha256', $text, $secret);
    }

    /**
     * Reports whether a Gateway signature matches; hexadecimal digits of either case are accepted. Also check the
     * timestamp with freshness(). The result is false for an empty secret, and for a line feed in a part other than the
     * body, because the signed text would be ambiguous.
     */
    public static function verifyGateway(
        #[\SensitiveParameter] string $secret,
        string $method,
        string $target,
        string $timestamp,
        string $idempotencyKey,
        string $body,
        string $signature,
    ): bool {
        $expected = self::gateway($secret, $method, $target, $timestamp, $idempotencyKey, $body);
        return hash_equals($expected, strtolower($signature))
            && $secret !== ''
            && !str_contains($method . $target . $timestamp . $idempotencyKey, "\n");
    }

    /**
     * Returns the body signature: the HMAC of the raw body in standard Base64 with padding, 44 characters. It covers no
     * time, so that a captured request can be sent again.
     *
     * @param string $key the project secret, or an API key
     */
    public static function body(#[\SensitiveParameter] string $key, string $body): string
    {
        return base64_encode(hash_hmac('sha256', $body, $key, true));
    }

    /** Reports whether a body signature matches. The result is false for an empty key. */
    public static function verifyBody(#[\SensitiveParameter] string $key, string $body, string $signature): bool
    {
        return hash_equals(self::body($key, $body), $signature) && $key !== '';
    }

    /**
     * Returns the header webhook-signature of a webhook: one signature for each secret, in their order, separated by
     * spaces. Tests of a receiver can use it.
     *
     * @param list<string> $secrets at least one project secret
     * @param string $id the header webhook-id
     * @param string $timestamp the header webhook-timestamp, Unix seconds
     *
     * @throws InvalidArgumentException if a secret, the ID or the timestamp is malformed
     */
    public static function webhook(
        #[\SensitiveParameter] array $secrets,
        string $id,
        string $timestamp,
        string $body,
    ): string {
        if (!self::isWebhookId($id)) {
            throw new InvalidArgumentException('id must not be empty or contain a full stop, a space or a line break');
        }
        if (self::parseTimestamp($timestamp) === null) {
            throw new InvalidArgumentException('timestamp must be Unix seconds in 1 to 18 ASCII digits');
        }
        $sign = static fn (string $key): string => 'v1,' . self::body($key, "$id.$timestamp.$body");
        return implode(' ', array_map($sign, self::webhookKeys($secrets)));
    }

    /**
     * Reports whether one of the signatures in the header webhook-signature was made with one of the secrets. Also
     * check the timestamp with freshness(); Webhook::verify() does both.
     *
     * @param list<string> $secrets the project secret, and during its rotation also the other one
     *
     * @throws InvalidArgumentException if there is no secret, or one is malformed
     */
    public static function verifyWebhook(
        #[\SensitiveParameter] array $secrets,
        string $id,
        string $timestamp,
        string $body,
        string $header,
    ): bool {
        $keys = self::webhookKeys($secrets);
        if (!self::isWebhookId($id) || self::parseTimestamp($timestamp) === null) {
            return false;
        }
        $found = false;
        foreach ($keys as $key) {
            $expected = 'v1,' . self::body($key, "$id.$timestamp.$body");
            foreach (explode(' ', $header) as $signature) {
                $found = hash_equals($expected, $signature) || $found;
            }
        }
        return $found;
    }

    /**
     * Returns a signed join link as a JSON Web Token. It goes behind /r/ROOM_ID#j= in the address. A claim that is
     * absent or empty is left out.
     *
     * @param string $secret the project secret
     * @param array{
     *     room_id: string, role: 'host'|'cohost'|'guest', name?: string|null, user_id?: string|null,
     *     single_use?: bool, jti?: string|null, iat: int, exp: int
     * } $claims name and user_id have at most 255 characters. A link for a host or co-host is always single-use, and a
     *     single-use link needs the ID jti. iat and exp are Unix seconds, 1 to 86400 apart.
     *
     * @throws InvalidArgumentException if a claim cannot be used
     */
    public static function joinLink(#[\SensitiveParameter] string $secret, array $claims): string
    {
        $signed = self::base64Url(self::JOIN_LINK_HEADER) . '.' . self::base64Url(JoinLink::encode($claims));
        return $signed . '.' . self::base64Url(hash_hmac('sha256', $signed, $secret, true));
    }

    /**
     * Compares a timestamp with a clock.
     *
     * @param string $timestamp Unix seconds in 1 to 18 ASCII digits
     * @param int $now Unix seconds
     * @param int $tolerance seconds in either direction
     *
     * @return self::FRESH|self::BEHIND|self::AHEAD|self::MALFORMED
     */
    public static function freshness(string $timestamp, int $now, int $tolerance = self::TOLERANCE): string
    {
        $seconds = self::parseTimestamp($timestamp);
        return match (true) {
            $seconds === null => self::MALFORMED,
            $seconds < $now - $tolerance => self::BEHIND,
            $seconds > $now + $tolerance => self::AHEAD,
            default => self::FRESH,
        };
    }

    /** Reports whether a text can be the ID of a webhook, which must not move the border to the next signed part. */
    public static function isWebhookId(string $id): bool
    {
        return $id !== '' && strpbrk($id, ". \r\n") === false;
    }

    private static function base64Url(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    private static function parseTimestamp(string $text): ?int
    {
        return preg_match('/\A[0-9]{1,18}\z/', $text) === 1 ? (int) $text : null;
    }

    /**
     * @param array<array-key, mixed> $secrets
     *
     * @return list<string> the decoded secrets
     */
    private static function webhookKeys(#[\SensitiveParameter] array $secrets): array
    {
        if ($secrets === []) {
            throw new InvalidArgumentException('secrets must contain at least one project secret');
        }
        $keys = [];
        foreach (array_values($secrets) as $index => $secret) {
            $encoded = is_string($secret) && str_starts_with($secret, self::WEBHOOK_PREFIX)
                ? substr($secret, strlen(self::WEBHOOK_PREFIX))
                : '';
            $key = (string) base64_decode($encoded, true);
            // base64_decode skips white space, also in its strict mode.
            if (base64_encode($key) !== $encoded || strlen($key) < 24 || strlen($key) > 64) {
                throw new InvalidArgumentException(
                    "secrets[$index] must be a project secret: whsec_ and the standard Base64 of 24 to 64 bytes",
                );
            }
            $keys[] = $key;
        }
        return $keys;
    }
}
