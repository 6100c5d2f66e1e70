<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * One call, which may be sent several times. It contains no credential.
 *
 * @internal
 */
final class Request
{
    /**
     * @param string $target path and query, escaped
     * @param string $accept the header Accept
     * @param bool $hasClientRoomId whether the body has a client_room_id
     * @param bool $repeatable whether the request may be sent again after a failure
     * @param float|null $retryWindow how many seconds after the first attempt it may be sent again, null for no limit
     */
    public function __construct(
        public readonly string $method,
        public readonly string $target,
        public readonly Signer $signer,
        public readonly string $body = '',
        public readonly string $accept = 'application/json',
        public readonly string $idempotencyKey = '',
        public readonly bool $hasClientRoomId = false,
        public readonly bool $repeatable = false,
        public readonly ?float $retryWindow = null,
    ) {
    }
}
