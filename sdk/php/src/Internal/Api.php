<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidArgumentException;

/**
 * The forms of the calls of Parley\Client.
 *
 * @internal
 */
final class Api
{
    /** @param int $version of the routes that versions 3 and 4 have */
    public function __construct(public readonly Transport $transport, public readonly int $version)
    {
    }

    /** Returns a target on the routes that versions 3 and 4 have. */
    public function target(string $route): string
    {
        return "/api/v$this->version/$route";
    }

    /** Throws MissingCredentialException if a credential of the Gateway signature is absent. */
    public function requireGateway(): void
    {
        $this->transport->credentials->require(Signer::Gateway);
    }

    /**
     * Creates a room. The call is repeated only if the server can recognize the repetition by the idempotency_key or
     * the client_room_id.
     *
     * @template T
     *
     * @param array<array-key, mixed> $room
     * @param callable(mixed, string, string, list<string>, list<string>): T $reader
     *
     * @return T
     */
    public function create(string $target, array $room, callable $reader): mixed
    {
        $this->transport->credentials->require(Signer::Project);
        $projectId = $this->transport->credentials->projectId;
        if (($room['project_id'] ?? $projectId) !== $projectId) {
            throw new InvalidArgumentException('project_id must be left out, because the client adds its own');
        }
        $fields = ['project_id' => $projectId] + $room;
        $hasClientRoomId = ($room['client_room_id'] ?? '') !== '';
        return self::readCreation($this->sendBody($target, $fields, Signer::Project, $hasClientRoomId), $reader);
    }

    /**
     * Sends a POST that the Gateway secret signs. It is repeated with an idempotency_key, or if it only reads.
     *
     * @param array<array-key, mixed> $fields
     */
    public function post(string $route, array $fields, bool $onlyReads = false): ApiResponse
    {
        $this->requireGateway();
        return $this->sendBody($this->target($route), $fields, Signer::Gateway, false, $onlyReads);
    }

    /**
     * Sends a GET that the Gateway secret signs.
     *
     * @param array<string, string|int|null> $query null for an absent parameter
     */
    public function get(string $target, array $query = [], string $accept = 'application/json'): ApiResponse
    {
        $encoded = http_build_query($query, '', '&', PHP_QUERY_RFC3986);
        return $this->transport->send(new Request(
            'GET',
            $encoded === '' ? $target : "$target?$encoded",
            Signer::Gateway,
            accept: $accept,
            repeatable: true,
        ));
    }

    /**
     * Reads the field `data` of version 5.
     *
     * @template T
     *
     * @param array<string, string|int|null> $query
     * @param callable(mixed, string, string, int|null): T $reader
     *
     * @return array{T, ApiResponse}
     */
    public function data(string $route, array $query, callable $reader): array
    {
        $response = $this->get("/api/v5/$route", $query);
        $read = static fn (mixed $body): mixed => $reader(
            self::member($body, 'data'),
            'data',
            $response->requestId,
            $response->requestsUsed(),
        );
        return [$response->read($read), $response];
    }

    /**
     * Reads a response with the report about fields of the request.
     *
     * @template T
     *
     * @param callable(mixed, string, string, list<string>, list<string>): T $reader
     *
     * @return T
     */
    public static function readCreation(ApiResponse $response, callable $reader): mixed
    {
        return $response->read(static fn (mixed $body): mixed => $reader(
            $body,
            '',
            $response->requestId,
            $response->ignoredFields(),
            $response->featuresAdjusted(),
        ));
    }

    /**
     * Reads a response, or one of its members.
     *
     * @template T
     *
     * @param callable(mixed, string, string): T $reader
     *
     * @return T
     */
    public static function readResponse(ApiResponse $response, callable $reader, string $member = ''): mixed
    {
        return $response->read(static fn (mixed $body): mixed => $reader(
            $member === '' ? $body : self::member($body, $member),
            $member,
            $response->requestId,
        ));
    }

    private static function member(mixed $body, string $name): mixed
    {
        return is_array($body) ? $body[$name] ?? null : null;
    }

    /** @param array<array-key, mixed> $fields */
    private function sendBody(
        string $target,
        array $fields,
        Signer $signer,
        bool $hasClientRoomId,
        bool $onlyReads = false,
    ): ApiResponse {
        $idempotencyKey = Settings::idempotencyKey($fields['idempotency_key'] ?? null);
        unset($fields['idempotency_key']);
        return $this->transport->send(new Request(
            'POST',
            $target,
            $signer,
            Body::encode($fields),
            idempotencyKey: $idempotencyKey,
            hasClientRoomId: $hasClientRoomId,
            repeatable: $idempotencyKey !== '' || $hasClientRoomId || $onlyReads,
        ));
    }
}
