<?php

declare(strict_types=1);

namespace Parley\Internal;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/**
 * Sends a request once with a PSR-18 client.
 *
 * @internal
 */
final class Sender
{
    /** The longest body of a success, in bytes. */
    private const MAX_BODY = 4 << 20;

    /** The longest list of active rooms, in bytes. It has no pages. */
    private const MAX_ACTIVE_ROOMS = 64 << 20;

    /** The longest body of an error, in bytes; more is ignored. */
    private const MAX_ERROR_BODY = 64 << 10;

    /** The numbers of curl for a certificate that is not valid. It is not valid a moment later either. */
    private const CERTIFICATE_ERRORS = [51, 60, 77];

    public function __construct(private readonly ClientInterface $client)
    {
    }

    /** Returns the length of the longest body of a success, in bytes. */
    public static function maxBody(RequestInterface $request): int
    {
        return str_ends_with($request->getUri()->getPath(), '/rooms/get_active_rooms_info')
            ? self::MAX_ACTIVE_ROOMS
            : self::MAX_BODY;
    }

    /**
     * Returns the response.
     *
     * @throws NoResponse
     */
    public function send(RequestInterface $request): RawResponse
    {
        $sent = microtime(true);
        $failure = null;
        try {
            $response = $this->client->sendRequest($request);
        } catch (ClientExceptionInterface $failure) {
            // Guzzle keeps a response that broke off.
            $response = method_exists($failure, 'getResponse') ? $failure->getResponse() : null;
        }
        if (!$response instanceof ResponseInterface) {
            throw $this->noResponse($failure);
        }
        $received = microtime(true);
        $isSuccess = $response->getStatusCode() === 200;
        $limit = self::maxBody($request);
        $body = '';
        try {
            self::read($response, $isSuccess ? $limit + 1 : self::MAX_ERROR_BODY, $body);
        } catch (\RuntimeException $failure) {
            // It counts only for a success, because the status alone identifies an error.
        }
        // Reading a success that is too large was stopped, which is a failure for some clients.
        $tooLargeFor = $isSuccess && strlen($body) > $limit ? $limit : null;
        if ($isSuccess && $tooLargeFor === null) {
            if ($failure !== null) {
                throw $this->noResponse($failure);
            }
            self::checkLength($response, $body);
        }
        return new RawResponse($response, $body, $sent, $received, $tooLargeFor);
    }

    private static function read(ResponseInterface $response, int $limit, string &$body): void
    {
        $stream = $response->getBody();
        if ($stream->isSeekable()) {
            $stream->rewind();
        }
        while (strlen($body) < $limit && !$stream->eof()) {
            $block = $stream->read(min(8192, $limit - strlen($body)));
            if ($block === '' && !$stream->eof()) { // PHP's own streams after their timeout
                throw new \RuntimeException('the response did not arrive in time');
            }
            $body .= $block;
        }
    }

    /** PHP's own streams, which Guzzle uses without curl, do not report a body that breaks off. */
    private static function checkLength(ResponseInterface $response, string $body): void
    {
        $length = $response->getHeaderLine('Content-Length');
        if (preg_match('/\A[0-9]{1,18}\z/', $length) !== 1 || $response->hasHeader('Content-Encoding')) {
            return;
        }
        if (strlen($body) < (int) $length) {
            throw new NoResponse('the connection was closed within the response', true);
        }
    }

    private function noResponse(?\Throwable $failure): NoResponse
    {
        $message = $failure?->getMessage() ?? '';
        $context = $failure !== null && method_exists($failure, 'getHandlerContext')
            ? $failure->getHandlerContext()
            : [];
        $isCertificate = in_array($context['errno'] ?? 0, self::CERTIFICATE_ERRORS, true);
        return new NoResponse($message !== '' ? $message : 'no response arrived', !$isCertificate);
    }
}
