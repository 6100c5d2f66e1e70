<?php

declare(strict_types=1);

namespace Parley\Exception;

/** No response arrived, or only a part of one. A call that writes may have succeeded. */
final class ConnectionException extends ParleyException
{
    public const KIND = 'connection';
}
