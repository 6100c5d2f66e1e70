<?php

declare(strict_types=1);

namespace Parley\Webhook;

use Closure;
use Parley\Internal\Receiver;
use Parley\Signature;
use Parley\Types\Event;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;

/**
 * A PSR-15 handler of webhooks. It calls a function with each event whose signature is valid and responds with 204.
 * If the function throws an exception, the response is 500, so that Parley sends the event again. Other requests get
 * 401 for an invalid signature, 405 for a method other than POST, and 413 for a body of more than 1 MiB.
 */
final class Handler implements RequestHandlerInterface
{
    private readonly Receiver $receiver;

    private readonly Closure $handle;

    private readonly Closure $report;

    /**
     * @param string|list<string> $secrets the project secret; during its rotation you can pass the old and the new one
     * @param callable(Event): mixed $handle the result is ignored
     * @param ResponseFactoryInterface $responseFactory makes the responses
     * @param int $tolerance how many seconds the timestamp may differ from the clock, in either direction
     * @param (callable(\Throwable): mixed)|null $report receives the exceptions that lead to the response 500; null
     *     for error_log()
     */
    public function __construct(
        #[\SensitiveParameter] string|array $secrets,
        callable $handle,
        ResponseFactoryInterface $responseFactory,
        int $tolerance = Signature::TOLERANCE,
        ?callable $report = null,
    ) {
        $this->receiver = new Receiver($secrets, $responseFactory, $tolerance);
        $this->handle = $handle(...);
        $this->report = $report === null
            ? static fn (\Throwable $problem): bool => error_log("Parley webhook was not handled: $problem")
            : $report(...);
    }

    public function handle(ServerRequestInterface $request): ResponseInterface
    {
        if ($request->getMethod() !== 'POST') {
            return $this->receiver->respond(405, 'webhooks are sent with POST')->withHeader('Allow', 'POST');
        }
        try {
            $result = $this->receiver->receive($request);
            if ($result instanceof ResponseInterface) {
                return $result;
            }
            ($this->handle)($result);
        } catch (\Throwable $problem) {
            ($this->report)($problem);
            return $this->receiver->respond(500, 'the event was not handled');
        }
        return $this->receiver->respond(204);
    }
}
