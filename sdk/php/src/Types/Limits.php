<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The entitlements of the organization's plan. */
final class Limits
{
    public function __construct(
        /** @var 'available'|'unavailable'|string */
        public readonly string $availability,
        /** @var list<Entitlement> */
        public readonly array $entitlements,
        /** Identifies this request, from a response header. Quote it to support. */
        public readonly string $request_id = '',
        /**
         * The number of correctly signed version 5 calls of the organization on this UTC day,
         * including this one, from the header X-Gateway-Requests-Used. It is null if the server
         * does not know it.
         */
        public readonly ?int $requests_used = null,
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(
        array $data,
        string $request_id = '',
        ?int $requests_used = null,
    ): self {
        return self::read($data, '', $request_id, $requests_used);
    }

    /** @internal */
    public static function read(
        mixed $value,
        string $path,
        string $request_id = '',
        ?int $requests_used = null,
    ): self {
        $fields = new Fields($value, $path);

        return new self(
            availability: $fields->required('availability', Fields::string(...)),
            entitlements: $fields->required('entitlements', Fields::listOf(Entitlement::read(...))),
            request_id: $request_id,
            requests_used: $requests_used,
        );
    }
}
