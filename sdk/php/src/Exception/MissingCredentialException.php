<?php

declare(strict_types=1);

namespace Parley\Exception;

/** The client does not have a credential that the call needs. Nothing was sent. */
final class MissingCredentialException extends ParleyException
{
    public const KIND = 'missing_credential';
}
