<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 401: an unknown project or key, a wrong signature or a wrong time. */
final class UnauthorizedException extends ParleyException
{
    public const KIND = 'unauthorized';
}
