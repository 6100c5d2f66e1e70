<?php

declare(strict_types=1);

namespace Parley\Exception;

/** An argument of the constructor or of a call is invalid. Nothing was sent. */
final class InvalidArgumentException extends ParleyException
{
    public const KIND = 'invalid_argument';
}
