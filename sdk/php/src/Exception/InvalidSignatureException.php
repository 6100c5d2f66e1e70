<?php

declare(strict_types=1);

namespace Parley\Exception;

/** A webhook does not come from Parley, was changed on its way, or is not recent. */
final class InvalidSignatureException extends ParleyException
{
    public const KIND = 'invalid_signature';
}
