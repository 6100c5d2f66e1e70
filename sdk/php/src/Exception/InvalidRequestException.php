<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 400, 413, 415 and 422: the message names the field and the bound. */
final class InvalidRequestException extends ParleyException
{
    public const KIND = 'invalid_request';
}
