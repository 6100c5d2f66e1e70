<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\ConnectionException;
use Parley\Exception\ParleyException;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Signs requests, sends them, and repeats them if this is safe.
 *
 * @internal
 */
final class Transport
{
    /** The resolution of the signed timestamp. A smaller correction of the clock would sign the same one again. */
    private const LEAST_CORRECTION = 1.0;

    private readonly Clock $clock;

    /** @param float $deadline the seconds after the first attempt of a call in which it may make others */
    public function __construct(
        public readonly string $baseUrl,
        public readonly Credentials $credentials,
        private readonly Sender $sender,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
        public readonly string $userAgent,
        private readonly int $maxAttempts,
        private readonly float $deadline = INF,
    ) {
        $this->clock = new Clock();
    }

    /** Returns the time by the clock of the server, in Unix seconds. */
    public function now(): int
    {
        return (int) floor(microtime(true) + $this->clock->offset());
    }

    /** Sends a request until it succeeds or must not be repeated. */
    public function send(Request $request): ApiResponse
    {
        $this->credentials->require($request->signer);
        $began = hrtime(true);
        $corrections = 0;
        for ($attempts = 1;; $attempts++) {
            $signedWith = $this->clock->offset();
            try {
                $response = $this->exchange($request, $signedWith);
                if (intdiv($response->status, 100) === 2) {
                    return $this->accept($response, $attempts);
                }
                $error = ErrorResponse::exception($response, $request, $this->credentials, $attempts);
                $isTemporary = self::isTemporary($error, $request);
            } catch (NoResponse $failure) {
                $message = Text::printable($this->credentials->redact($failure->getMessage()), Text::MESSAGE);
                $error = new ConnectionException($message, attempts: $attempts);
                $isTemporary = $failure->temporary;
            }
            $correction = abs($this->clock->offset() - $signedWith);
            $isStale = $error->status === 401 && $request->signer === Signer::Gateway;
            if ($isStale && $corrections === 0 && $correction >= self::LEAST_CORRECTION) {
                $corrections++;
                continue;
            }
            if (!$isTemporary || !$request->repeatable || $attempts - $corrections >= $this->maxAttempts) {
                throw $error;
            }
            $wait = Backoff::wait($attempts - $corrections, $error->retry_after);
            $end = min($this->deadline, $request->retryWindow ?? INF);
            if ($wait > Backoff::LONGEST || (hrtime(true) - $began) / 1e9 + $wait > $end) {
                throw $error;
            }
            self::sleep($wait);
        }
    }

    /** A signal ends usleep early. */
    private static function sleep(float $seconds): void
    {
        $end = hrtime(true) + (int) ($seconds * 1e9);
        while (($left = $end - hrtime(true)) > 0) {
            usleep(intdiv($left, 1000) + 1);
        }
    }

    /** Sends a request once. */
    private function exchange(Request $request, float $offset): RawResponse
    {
        $response = $this->sender->send($this->message($request, $offset));
        $date = $response->date();
        // A response without an ID is from a proxy, and one with an Age from a cache.
        if ($date !== null && $response->requestId() !== '' && $response->header('Age') === '') {
            $this->clock->observe($response->sent, $response->received, $date);
        }
        return $response;
    }

    private function message(Request $request, float $offset): RequestInterface
    {
        $message = $this->requests->createRequest($request->method, $this->baseUrl . $request->target);
        $headers = ['User-Agent' => $this->userAgent, 'Accept' => $request->accept];
        if ($request->body !== '') {
            $message = $message->withBody($this->streams->createStream($request->body));
            $headers['Content-Type'] = 'application/json';
        }
        if ($request->idempotencyKey !== '') {
            $headers['Idempotency-Key'] = $request->idempotencyKey;
        }
        // The target of the message is what the HTTP client writes into the request line.
        $time = (int) floor(microtime(true) + $offset);
        $headers += $this->credentials->sign($request, $message->getRequestTarget(), $time);
        foreach ($headers as $name => $value) {
            $message = $message->withHeader($name, $value);
        }
        return $message;
    }

    private function accept(RawResponse $response, int $attempts): ApiResponse
    {
        $accepted = new ApiResponse($response, $this->credentials, $attempts);
        if ($response->status !== 200) {
            throw $accepted->unexpected("the response has the status $response->status instead of 200");
        }
        if ($response->tooLargeFor !== null) {
            throw $accepted->unexpected("the response is larger than $response->tooLargeFor bytes");
        }
        return $accepted;
    }

    /** Reports whether the same request may succeed a moment later. */
    private static function isTemporary(ParleyException $error, Request $request): bool
    {
        return match ($error->status) {
            429, 502, 503, 504 => true,
            // The first request with this key is still in progress.
            409 => $request->idempotencyKey !== '' && $error->retry_after > 0,
            default => false,
        };
    }
}
