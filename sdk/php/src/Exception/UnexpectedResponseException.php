<?php

declare(strict_types=1);

namespace Parley\Exception;

/**
 * A response that the API does not document, or one of more than 4 MiB (64 MiB for activeRooms). A call that writes may
 * have succeeded.
 */
final class UnexpectedResponseException extends ParleyException
{
    public const KIND = 'unexpected_response';
}
