<?php

declare(strict_types=1);

namespace Parley\Internal;

use GuzzleHttp\Psr7\StreamDecoratorTrait;
use GuzzleHttp\Psr7\Utils;
use Psr\Http\Message\StreamInterface;

/**
 * Receives the body of a response for Guzzle, and stops the transfer after a number of bytes.
 *
 * @internal
 */
final class BoundedSink implements StreamInterface
{
    use StreamDecoratorTrait;

    private StreamInterface $stream;

    public function __construct(private int $room)
    {
        $this->stream = Utils::streamFor('');
    }

    /** Writes as much as there is room for. curl ends the transfer if this is not everything. */
    public function write($string): int
    {
        $written = $this->stream->write(substr($string, 0, $this->room));
        $this->room -= $written;
        return $written;
    }
}
