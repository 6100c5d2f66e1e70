<?php

declare(strict_types=1);

namespace Parley\Tests;

use GuzzleHttp\Client;
use Nyholm\Psr7\Factory\Psr17Factory;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/**
 * Decodes the Base64 of a response, because the script of the server is JSON and cannot contain all bytes.
 */
final class DecodingClient implements ClientInterface
{
    public function sendRequest(RequestInterface $request): ResponseInterface
    {
        $response = (new Client())->sendRequest($request);
        $body = (string) base64_decode((string) $response->getBody());
        return $response->withoutHeader('Content-Length')->withBody((new Psr17Factory())->createStream($body));
    }
}
