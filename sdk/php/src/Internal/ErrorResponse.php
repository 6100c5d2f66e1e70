<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\ConflictException;
use Parley\Exception\ForbiddenException;
use Parley\Exception\GoneException;
use Parley\Exception\InvalidRequestException;
use Parley\Exception\NotFoundException;
use Parley\Exception\ParleyException;
use Parley\Exception\RateLimitedException;
use Parley\Exception\ServerErrorException;
use Parley\Exception\UnauthorizedException;
use Parley\Exception\UnavailableException;

/**
 * Error responses of Parley or of a proxy.
 *
 * @internal
 */
final class ErrorResponse
{
    public const FOREIGN = 'The response does not come from a Parley server. '
        . 'Check the base URL and the proxy in front of the server.';

    private function __construct()
    {
    }

    /** Returns the exception of a response whose status is not 2xx. */
    public static function exception(
        RawResponse $response,
        Request $request,
        Credentials $credentials,
        int $attempts,
    ): ParleyException {
        [$code, $message, $requestId] = self::decode($response);
        $code = Text::printable($credentials->redact($code), Text::NAME);
        $message = Text::printable($credentials->redact($message), Text::MESSAGE);
        $requestId = Text::printable($credentials->redact($requestId), Text::NAME);
        $class = self::class($response->status);
        return new $class(
            $message !== '' ? $message : StatusText::of($response->status),
            $response->status,
            $code,
            $requestId,
            Backoff::retryAfter($response->header('Retry-After'), $response->date()),
            $attempts,
            self::remedy($response->status, $code, $message, $requestId, $request, $credentials, $attempts),
        );
    }

    /**
     * Reads the two documented forms. Another body, such as the page of a proxy, is ignored.
     *
     * @return array{string, string, string} the code, the message and the ID of the request
     */
    private static function decode(RawResponse $response): array
    {
        $body = json_decode($response->body, true, 64, JSON_INVALID_UTF8_SUBSTITUTE);
        $error = is_array($body) ? $body['error'] ?? null : null;
        if (is_string($error)) {
            return ['', $error, $response->requestId()];
        }
        $text = static function (string $name) use ($error): string {
            $value = is_array($error) ? $error[$name] ?? null : null;
            return is_string($value) ? $value : '';
        };
        $requestId = $text('request_id');
        return [$text('code'), $text('message'), $requestId !== '' ? $requestId : $response->requestId()];
    }

    /** @return class-string<ParleyException> */
    private static function class(int $status): string
    {
        return match ($status) {
            400, 413, 415, 422 => InvalidRequestException::class,
            401 => UnauthorizedException::class,
            403 => ForbiddenException::class,
            404 => NotFoundException::class,
            409 => ConflictException::class,
            410 => GoneException::class,
            429 => RateLimitedException::class,
            502, 503, 504 => UnavailableException::class,
            default => ServerErrorException::class,
        };
    }

    /** Returns what to do about an error. The sentences are the same in the SDKs of all languages. */
    private static function remedy(
        int $status,
        string $code,
        string $message,
        string $requestId,
        Request $request,
        Credentials $credentials,
        int $attempts,
    ): string {
        $isSuspended = $code === 'SVC_GATEWAY_PROJECT_SUSPENDED' || str_ends_with($message, 'suspended');
        return match (true) {
            intdiv($status, 100) === 3 => 'Use the address that the server redirects to as the base URL.',
            $requestId === '' => self::FOREIGN,
            $status === 401 && $request->signer === Signer::Project && !$credentials->hasProjectSecret() =>
                'Check that project_id and api_key belong together and that the key has not been replaced. '
                . 'If the project has the setting require_secret_signatures, pass project_secret to the client.',
            $status === 401 && $request->signer->signsBody() => 'Check that project_id and project_secret belong '
                . 'together and that the secret has not been replaced.',
            $status === 401 && $request->signer === Signer::Gateway => 'Check that api_key and gateway_secret belong '
                . 'together and that the key has not been replaced. The request log of the project names the cause.',
            $status === 403 && $isSuspended => 'Ask the operator of the server why the project is suspended.',
            $status === 403 && $message === 'the project is inactive' => 'Activate the project with '
                . 'update_project_status.',
            $status === 404 && $code === 'SVC_GATEWAY_DISABLED' => 'Ask the operator of the server to enable '
                . 'version 5.',
            $status === 409 && $attempts > 1 && $request->hasClientRoomId => 'An earlier attempt may have created '
                . 'the room. Look for client_room_id in the list of rooms.',
            $status === 410 => 'Use version 4 of the API.',
            default => '',
        };
    }
}
