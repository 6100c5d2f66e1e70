<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 500 and each status that has no other class. A redirect has this class because redirects are not followed. */
final class ServerErrorException extends ParleyException
{
    public const KIND = 'server_error';
}
