<?php

declare(strict_types=1);

namespace Parley\Internal;

use GuzzleHttp\Client;
use GuzzleHttp\HandlerStack;
use GuzzleHttp\Psr7\HttpFactory;
use Parley\Exception\InvalidArgumentException;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * The HTTP client and the factories for a Parley\Client that was given none.
 *
 * @internal
 */
final class DefaultClient
{
    private function __construct()
    {
    }

    /**
     * Returns a client of Guzzle that follows no redirects and stops reading a response that is too large.
     *
     * @param float $timeout seconds for a request and its response
     */
    public static function create(float $timeout): ClientInterface
    {
        if (!is_a(Client::class, ClientInterface::class, true)) {
            throw new InvalidArgumentException('Guzzle 7 is not installed, so pass a PSR-18 client as httpClient');
        }
        $handlers = HandlerStack::create();
        $handlers->push(static fn (callable $next): callable => static fn (
            RequestInterface $request,
            array $options,
        ) => $next($request, self::options($request) + $options));
        return new Client([
            'handler' => $handlers,
            'timeout' => $timeout,
            'connect_timeout' => $timeout,
            'allow_redirects' => false,
            'http_errors' => false,
        ]);
    }

    /** @param string $argument the argument of Parley\Client that is absent */
    public static function factory(string $argument): RequestFactoryInterface&StreamFactoryInterface
    {
        if (!class_exists(HttpFactory::class)) {
            throw new InvalidArgumentException(
                "guzzlehttp/psr7 is not installed, so pass a PSR-17 factory as $argument",
            );
        }
        return new HttpFactory();
    }

    /** @return array<string, mixed> */
    private static function options(RequestInterface $request): array
    {
        $options = ['sink' => new BoundedSink(Sender::maxBody($request) + 1)];
        // If an idle connection turns out to be closed, curl sends the request again on another one. The server may
        // have received the first one, so a request that must not be repeated gets a new connection.
        $mustBeSentOnce = $request->getMethod() === 'POST' && !$request->hasHeader('Idempotency-Key');
        if ($mustBeSentOnce && extension_loaded('curl')) {
            $options['curl'] = [\CURLOPT_FRESH_CONNECT => true];
        }
        return $options;
    }
}
