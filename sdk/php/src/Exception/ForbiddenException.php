<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 403: the project is inactive or suspended, or one of its settings does not allow the call. */
final class ForbiddenException extends ParleyException
{
    public const KIND = 'forbidden';
}
