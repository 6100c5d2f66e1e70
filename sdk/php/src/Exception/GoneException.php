<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 410: the operator has ended this version of the API. */
final class GoneException extends ParleyException
{
    public const KIND = 'gone';
}
