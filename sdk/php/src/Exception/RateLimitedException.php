<?php

declare(strict_types=1);

namespace Parley\Exception;

/** 429: too many calls, or a quota is used up. retry_after is the time to wait. */
final class RateLimitedException extends ParleyException
{
    public const KIND = 'rate_limited';
}
