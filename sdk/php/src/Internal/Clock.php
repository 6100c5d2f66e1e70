<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * An estimate of the clock of the server from its responses.
 *
 * @internal
 */
final class Clock
{
    private float $offset = 0.0;

    /** Returns how many seconds the clock of the server is ahead of ours, 0 before the first response. */
    public function offset(): float
    {
        return $this->offset;
    }

    /**
     * Updates the offset from the header Date of a response. The server truncates it to the second and writes it
     * between $sent and $received, so it only bounds the offset. An offset within the bounds is kept, so that it does
     * not fluctuate.
     *
     * @param float $sent Unix time by our clock
     * @param float $received Unix time by our clock
     * @param int $date Unix time by the clock of the server
     */
    public function observe(float $sent, float $received, int $date): void
    {
        $lower = $date - $received;
        $upper = $date + 1 - $sent;
        if ($this->offset < $lower || $this->offset > $upper) {
            $this->offset = ($lower + $upper) / 2;
        }
    }
}
