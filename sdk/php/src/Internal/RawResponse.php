<?php

declare(strict_types=1);

namespace Parley\Internal;

use Psr\Http\Message\ResponseInterface;

/**
 * A response as it was received, with its body up to a limit.
 *
 * @internal
 */
final class RawResponse
{
    public readonly int $status;

    public function __construct(
        private readonly ResponseInterface $message,
        public readonly string $body,
        public readonly float $sent,
        public readonly float $received,
        /** The limit in bytes, if the body is larger. */
        public readonly ?int $tooLargeFor,
    ) {
        $this->status = $message->getStatusCode();
    }

    /** Returns the first header with a name, or ''. */
    public function header(string $name): string
    {
        return trim($this->message->getHeader($name)[0] ?? '');
    }

    /**
     * Returns the names in a header, which are separated by commas.
     *
     * @return list<string>
     */
    public function names(string $name): array
    {
        $names = array_map('trim', explode(',', $this->message->getHeaderLine($name)));
        return array_values(array_filter($names, static fn (string $name): bool => $name !== ''));
    }

    /** Returns the ID of the request in the log of the server, or '' if the response is not from Parley. */
    public function requestId(): string
    {
        $id = $this->header('X-Gateway-Request-ID');
        return $id !== '' ? $id : $this->header('X-Request-ID');
    }

    /** Returns the header Date in Unix seconds, or null without a valid one. */
    public function date(): ?int
    {
        return HttpDate::parse($this->header('Date'));
    }
}
