<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\UnexpectedResponseException;

/**
 * A response with a status 2xx.
 *
 * @internal
 */
final class ApiResponse
{
    public readonly string $requestId;

    public function __construct(
        private readonly RawResponse $response,
        private readonly Credentials $credentials,
        private readonly int $attempts,
    ) {
        $this->requestId = Text::printable($credentials->redact($response->requestId()), Text::NAME);
    }

    /**
     * Decodes the JSON of the body and reads it as a type.
     *
     * @template T
     *
     * @param callable(mixed): T $reader throws \UnexpectedValueException for a value of another type
     *
     * @return T
     */
    public function read(callable $reader): mixed
    {
        try {
            return $reader(json_decode($this->response->body, true, flags: JSON_THROW_ON_ERROR));
        } catch (\JsonException) {
            $reason = 'it is not JSON';
        } catch (\UnexpectedValueException $problem) {
            $reason = $problem->getMessage();
        }
        throw $this->unexpected("the response is not as documented: $reason");
    }

    /** Returns the body of a document that is not JSON. */
    public function text(): string
    {
        if (preg_match('~\Atext/html\b~i', $this->response->header('Content-Type')) === 1) {
            throw $this->unexpected('the response is a page instead of the document');
        }
        return $this->response->body;
    }

    /** @return list<string> the names of fields that were sent and have no effect */
    public function ignoredFields(): array
    {
        return $this->response->names('X-Ignored-Fields');
    }

    /** @return list<string> the names of features that were lowered to the limit of the plan */
    public function featuresAdjusted(): array
    {
        return $this->response->names('X-Feature-Adjusted');
    }

    /** Returns the number of version 5 calls on this day, or null if the server does not know it. */
    public function requestsUsed(): ?int
    {
        $used = $this->response->header('X-Gateway-Requests-Used');
        return preg_match('/\A[0-9]{1,18}\z/', $used) === 1 ? (int) $used : null;
    }

    /** Returns the exception for a response that the API does not document. */
    public function unexpected(string $message): UnexpectedResponseException
    {
        return new UnexpectedResponseException(
            Text::printable($this->credentials->redact($message), Text::MESSAGE),
            $this->response->status,
            request_id: $this->requestId,
            attempts: $this->attempts,
            remedy: $this->requestId === '' ? ErrorResponse::FOREIGN : '',
        );
    }
}
