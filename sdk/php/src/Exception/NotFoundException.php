<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 404: there is no such room or resource, or version 5 is disabled. */
final class NotFoundException extends ParleyException
{
    public const KIND = 'not_found';
}
