<?php

declare(strict_types=1);

namespace Parley\Webhook;

use Parley\Internal\Receiver;
use Parley\Signature;
use Parley\Types\Event;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\MiddlewareInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * Verifies webhooks before a PSR-15 handler. The handler finds the event in the attribute Middleware::EVENT of the
 * request, and responds with 2xx when it has accepted the event. A request without a valid signature gets 401 and does
 * not reach the handler.
 *
 * Exceptions of the handler pass through, so that your framework logs them and responds with 500. Parley then sends the
 * event again. Use Handler if there is no such framework.
 */
final class Middleware implements MiddlewareInterface
{
    /** The name of the request attribute with the event. */
    public const EVENT = Event::class;

    private readonly Receiver $receiver;

    /**
     * @param string|list<string> $secrets the project secret; during its rotation you can pass the old and the new one
     * @param ResponseFactoryInterface $responseFactory makes the response 401
     * @param int $tolerance how many seconds the timestamp may differ from the clock, in either direction
     */
    public function __construct(
        #[\SensitiveParameter] string|array $secrets,
        ResponseFactoryInterface $responseFactory,
        int $tolerance = Signature::TOLERANCE,
    ) {
        $this->receiver = new Receiver($secrets, $responseFactory, $tolerance);
    }

    public function process(ServerRequestInterface $request, RequestHandlerInterface $handler): ResponseInterface
    {
        $result = $this->receiver->receive($request);
        return $result instanceof ResponseInterface
            ? $result
            : $handler->handle($request->withAttribute(self::EVENT, $result));
    }
}
