<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/** A call in the request log. */
final class LoggedRequest
{
    public function __construct(
        public readonly string $request_id,
        public readonly DateTimeImmutable $received_at,
        public readonly string $method,
        /** The path without the query. */
        public readonly string $path,
        public readonly int $status,
        public readonly float $duration_ms,
        /** @var 'current'|'overlap'|'retired'|string */
        public readonly string $key_slot,
        /** @var 'ok'|'stale_timestamp'|'retired_key'|'bad_signature'|string */
        public readonly string $auth_result,
        /** Null on success. */
        public readonly ?string $code = null,
        /** A mistake that the server recognized. */
        public readonly ?string $hint = null,
        /**
         * The client's clock minus the server's clock, in seconds. Null if the timestamp is not a
         * number.
         */
        public readonly ?int $clock_skew_seconds = null,
        public readonly ?string $user_agent = null,
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
            request_id: $fields->required('request_id', Fields::string(...)),
            received_at: $fields->required('received_at', Fields::time(...)),
            method: $fields->required('method', Fields::string(...)),
            path: $fields->required('path', Fields::string(...)),
            status: $fields->required('status', Fields::integer(...)),
            duration_ms: $fields->required('duration_ms', Fields::number(...)),
            key_slot: $fields->required('key_slot', Fields::string(...)),
            auth_result: $fields->required('auth_result', Fields::string(...)),
            code: $fields->optional('code', Fields::string(...)),
            hint: $fields->optional('hint', Fields::string(...)),
            clock_skew_seconds: $fields->optional('clock_skew_seconds', Fields::integer(...)),
            user_agent: $fields->optional('user_agent', Fields::string(...)),
        );
    }
}
