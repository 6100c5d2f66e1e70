<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** The API keys of the project. */
final class Keys
{
    public function __construct(
        public readonly CurrentKey $current,
        /** The previous key during the overlap of a rotation, otherwise null. */
        public readonly ?OverlapKey $overlap = null,
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
            current: $fields->required('current', CurrentKey::read(...)),
            overlap: $fields->optional('overlap', OverlapKey::read(...)),
            request_id: $request_id,
            requests_used: $requests_used,
        );
    }
}
