<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * No response arrived, or only a part of one.
 *
 * @internal
 */
final class NoResponse extends \RuntimeException
{
    /** @param bool $temporary whether the same request may succeed a moment later */
    public function __construct(string $reason, public readonly bool $temporary)
    {
        parent::__construct($reason);
    }
}
