<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 502, 503 and 504: try again later. */
final class UnavailableException extends ParleyException
{
    public const KIND = 'unavailable';
}
