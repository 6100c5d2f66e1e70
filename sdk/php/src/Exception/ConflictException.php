<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 409: client_room_id is taken, an equal request is in progress, or the state of the room forbids the call. */
final class ConflictException extends ParleyException
{
    public const KIND = 'conflict';
}
