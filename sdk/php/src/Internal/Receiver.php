<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidSignatureException;
use Parley\Types\Event;
use Parley\Webhook;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;

/**
 * Verifies webhooks in PSR-7 requests.
 *
 * @internal
 */
final class Receiver
{
    /** The longest body, in bytes. Parley sends less. */
    private const MAX_BODY = 1 << 20;

    private readonly Secrets $secrets;

    /** @param string|list<string> $secrets */
    public function __construct(
        #[\SensitiveParameter] string|array $secrets,
        private readonly ResponseFactoryInterface $responses,
        private readonly int $tolerance,
    ) {
        $this->secrets = new Secrets((array) $secrets);
    }

    /** Returns the event, or the response to a request that is not a valid webhook. */
    public function receive(ServerRequestInterface $request): Event|ResponseInterface
    {
        $body = self::body($request);
        if (strlen($body) > self::MAX_BODY) {
            return $this->respond(413, 'the body is larger than ' . self::MAX_BODY . ' bytes');
        }
        try {
            return Webhook::verify($this->secrets->all(), $request->getHeaders(), $body, $this->tolerance);
        } catch (InvalidSignatureException $problem) {
            return $this->respond(401, $problem->getMessage());
        }
    }

    public function respond(int $status, string $message = ''): ResponseInterface
    {
        $response = $this->responses->createResponse($status);
        if ($message === '') {
            return $response;
        }
        $response->getBody()->write($message . "\n");
        return $response->withHeader('Content-Type', 'text/plain; charset=utf-8');
    }

    private static function body(ServerRequestInterface $request): string
    {
        $stream = $request->getBody();
        if ($stream->isSeekable()) {
            $stream->rewind();
        }
        $body = '';
        while (strlen($body) <= self::MAX_BODY && !$stream->eof()) {
            $body .= $stream->read(8192);
        }
        if ($stream->isSeekable()) {
            $stream->rewind(); // for the next handler
        }
        return $body;
    }
}
