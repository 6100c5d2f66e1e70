<?php

declare(strict_types=1);

namespace Parley;

use Parley\Exception\InvalidArgumentException;
use Parley\Exception\InvalidSignatureException;
use Parley\Exception\UnexpectedResponseException;
use Parley\Types\Event;
use Parley\Types\EventFactory;

/**
 * Verifies webhooks, which Parley signs according to Standard Webhooks 1.0.
 */
final class Webhook
{
    private const HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

    private function __construct()
    {
    }

    /**
     * Checks the signature and the time of a webhook and returns its event. Parley sends an event at least once: an
     * event with the ID of an earlier one is the same event. Respond with 2xx to types that you do not know, which are
     * a Types\UnknownEvent.
     *
     * @param string|list<string> $secrets the project secret; during its rotation you can pass the old and the new one
     * @param array<array-key, string|array<string|null>|null> $headers by their names in any case, such as the result
     *     of getallheaders()
     * @param string $body the raw body, byte for byte as it was received
     * @param int $tolerance how many seconds the timestamp may differ from the clock, in either direction
     * @param int|null $now Unix time in seconds; null for the clock of this machine
     *
     * @throws InvalidSignatureException if the webhook is not from Parley or not recent. Respond with 401.
     * @throws InvalidArgumentException if a secret is malformed
     * @throws UnexpectedResponseException if the signature is valid and the body is not an event
     */
    public static function verify(
        #[\SensitiveParameter] string|array $secrets,
        array $headers,
        string $body,
        int $tolerance = Signature::TOLERANCE,
        ?int $now = null,
    ): Event {
        [$id, $timestamp, $signature] = self::read($headers);
        if (!Signature::isWebhookId($id)) {
            throw new InvalidSignatureException('the header webhook-id is malformed');
        }
        $freshness = Signature::freshness($timestamp, $now ?? time(), $tolerance);
        if ($freshness === Signature::MALFORMED) {
            throw new InvalidSignatureException('the header webhook-timestamp is malformed');
        }
        if (!Signature::verifyWebhook((array) $secrets, $id, $timestamp, $body, $signature)) {
            throw new InvalidSignatureException('no signature matches');
        }
        if ($freshness !== Signature::FRESH) {
            $problem = $freshness === Signature::BEHIND ? 'old' : 'new';
            throw new InvalidSignatureException("the timestamp is too $problem");
        }
        return self::event($body);
    }

    /**
     * @param array<array-key, mixed> $headers
     *
     * @return array{string, string, string} the ID, the timestamp and the signatures
     */
    private static function read(array $headers): array
    {
        $headers = array_change_key_case($headers);
        $values = [];
        foreach (self::HEADERS as $name) {
            // A repeated header counts as one with its values joined by commas (RFC 9110, section 5.3).
            $value = implode(', ', array_filter((array) ($headers[$name] ?? ''), is_string(...)));
            if ($value === '') {
                throw new InvalidSignatureException("missing header $name");
            }
            $values[] = $value;
        }
        return $values;
    }

    private static function event(string $body): Event
    {
        try {
            $data = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
            return EventFactory::fromArray(is_array($data) ? $data : []);
        } catch (\JsonException) {
            $reason = 'it is not JSON';
        } catch (\UnexpectedValueException $problem) {
            $reason = $problem->getMessage();
        }
        throw new UnexpectedResponseException("the body of the webhook is not as documented: $reason");
    }
}
