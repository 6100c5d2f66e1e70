<?php

declare(strict_types=1);

use GuzzleHttp\Client as Guzzle;
use GuzzleHttp\Handler\StreamHandler;
use GuzzleHttp\Psr7\FnStream;
use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\Response;
use Nyholm\Psr7\Factory\Psr17Factory;
use Parley\Exception\ConnectionException;
use Parley\Exception\ForbiddenException;
use Parley\Exception\InvalidRequestException;
use Parley\Exception\ServerErrorException;
use Parley\Exception\UnavailableException;
use Parley\Exception\UnexpectedResponseException;
use Parley\Tests\DecodingClient;
use Parley\Tests\Fixtures;
use Parley\Tests\Server;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

use function Parley\Tests\contains;
use function Parley\Tests\same;
use function Parley\Tests\thrown;

$foreign = 'The response does not come from a Parley server. Check the base URL and the proxy in front of the server.';

return [
    'the text of an exception' => static function () use ($foreign): void {
        $cases = [
            [
                ['status' => 403, 'body' => '{"error":"the project is inactive"}'],
                "403: the project is inactive (request req_1)\nActivate the project with update_project_status.",
            ],
            [
                ['status' => 429, 'headers' => ['Retry-After' => '60', 'X-Request-ID' => ''],
                    'body' => '{"error":{"code":"SVC_RATE_LIMITED","message":"too many","request_id":"g1"}}'],
                '429 SVC_RATE_LIMITED: too many (request g1)',
            ],
            [
                ['status' => 502, 'headers' => ['Retry-After' => '60', 'X-Request-ID' => ''], 'body' => '<html>secret'],
                "502: Bad Gateway\n$foreign",
            ],
            [['status' => 418, 'body' => '{"error":""}'], "418: I'm a teapot (request req_1)"],
            [['status' => 400, 'body' => '{"error":["a"]}'], '400: Bad Request (request req_1)'],
            [['status' => 599, 'body' => ''], '599: Unknown Status (request req_1)'],
        ];
        foreach ($cases as [$response, $want]) {
            $server = new Server([$response]);
            $client = Fixtures::client($server->url, maxAttempts: 1);
            $problem = thrown(\Parley\Exception\ParleyException::class, static fn () => $client->keys(), $response);
            same([$want, $response['status']], [$problem->getMessage(), $problem->getCode()], $response);
        }
    },

    'bodies without an end are not read to their end' => static function (): void {
        $server = new Server([
            ['endless' => true, 'body' => str_repeat('x', 1000)],
            ['endless' => true, 'body' => str_repeat('x', 1000), 'status' => 403],
        ]);
        $client = Fixtures::client($server->url, timeout: 20.0, maxAttempts: 1);
        $problem = thrown(UnexpectedResponseException::class, static fn () => $client->keys(), 'endless 200');
        same('200: the response is larger than 4194304 bytes (request req_1)', $problem->getMessage(), 'endless 200');
        $problem = thrown(ForbiddenException::class, static fn () => $client->keys(), 'endless 403');
        same('403: Forbidden (request req_2)', $problem->getMessage(), 'endless 403');
    },

    'the list of active rooms, which has no pages, may be larger than others' => static function (): void {
        $body = '{"response":{"status":true,"msg":"success","rooms":[]' . str_repeat(' ', 5 << 20) . '}}';
        $server = new Server([['body' => $body]]);
        same([], Fixtures::client($server->url)->activeRooms()->rooms, 'five MiB');
    },

    'a page instead of a text' => static function () use ($foreign): void {
        $page = ['headers' => ['Content-Type' => 'text/html; charset=utf-8', 'X-Request-ID' => ''], 'body' => '<html>'];
        $server = new Server([$page, $page]);
        $client = Fixtures::client($server->url);
        $calls = [
            static fn () => $client->openapi(['version' => 4]),
            static fn () => $client->exportAttendance(['room_id' => 'r']),
        ];
        foreach ($calls as $index => $call) {
            $problem = thrown(UnexpectedResponseException::class, $call, $index);
            same("200: the response is a page instead of the document\n$foreign", $problem->getMessage(), $index);
        }
    },

    'responses that are not as documented' => static function (): void {
        $cases = [
            '' => 'it is not JSON',
            'null' => 'the JSON value: expected an object',
            '[1]' => 'the JSON value: expected an object',
            '{"status":true}' => 'final_link: expected a string',
            '{"status":true,"final_link":5}' => 'final_link: expected a string',
            '{"status":1,"final_link":"x"}' => 'status: expected a boolean',
            "{\"status\":true,\"final_link\":\"\xff\"}" => 'it is not JSON',
        ];
        foreach ($cases as $body => $want) {
            $server = new Server([['body' => base64_encode((string) $body)]]);
            $client = Fixtures::client($server->url, httpClient: new DecodingClient());
            $call = static fn () => $client->joinRoom(['room_id' => 'r', 'user_info' => ['name' => 'Bela']]);
            $problem = thrown(UnexpectedResponseException::class, $call, $body);
            same("200: the response is not as documented: $want (request req_1)", $problem->getMessage(), $body);
            same([200, 1], [$problem->status, $problem->attempts], $body);
        }
        $server = new Server([['body' => '{"joined":false}']]);
        $client = Fixtures::client($server->url);
        $call = static fn () => $client->sendJoinEvent(['room_id' => 'r', 'name' => 'Zoë']);
        thrown(UnexpectedResponseException::class, $call, 'not joined');
    },

    'an error that broke off is known by its status' => static function (): void {
        foreach ([[], ['handler' => new StreamHandler()]] as $options) {
            $server = new Server([['status' => 403, 'cut' => true, 'body' => '{"error":"the project is susp']]);
            $client = Fixtures::client($server->url, httpClient: new Guzzle($options));
            $problem = thrown(ForbiddenException::class, static fn () => $client->keys(), array_keys($options));
            same('403: Forbidden (request req_1)', $problem->getMessage(), array_keys($options));
        }
    },

    'a success that broke off did not arrive' => static function (): void {
        foreach ([[], ['handler' => new StreamHandler()]] as $options) {
            $server = new Server([['cut' => true, 'body' => Fixtures::STATUS]]);
            $client = Fixtures::client($server->url, httpClient: new Guzzle($options), maxAttempts: 1);
            $call = static fn () => $client->roomStatus(['room_id' => 'r']);
            same(null, thrown(ConnectionException::class, $call, array_keys($options))->status, array_keys($options));
        }
    },

    'a redirect is not followed, also by a client of the application' => static function (): void {
        foreach ([null, new Guzzle(['allow_redirects' => true, 'http_errors' => true])] as $httpClient) {
            $server = new Server([['status' => 307, 'headers' => ['Location' => '/elsewhere']], []]);
            $client = Fixtures::client($server->url, httpClient: $httpClient);
            $problem = thrown(ServerErrorException::class, static fn () => $client->keys(), 'redirect');
            same([307, 1], [$problem->status, count($server->requests())], 'redirect');
        }
    },

    'any PSR-18 client and PSR-17 factories' => static function (): void {
        $factory = new Psr17Factory();
        $sent = [];
        $httpClient = new class ($factory, $sent) implements ClientInterface {
            /** @param list<RequestInterface> $sent */
            public function __construct(private readonly Psr17Factory $factory, private array &$sent)
            {
            }

            public function sendRequest(RequestInterface $request): ResponseInterface
            {
                $this->sent[] = $request;
                return $this->factory->createResponse()
                    ->withHeader('X-Request-ID', 'req_1')
                    ->withBody($this->factory->createStream(Fixtures::ROOM));
            }
        };
        $client = Fixtures::client(
            'https://meet.example.org',
            httpClient: $httpClient,
            requestFactory: $factory,
            streamFactory: $factory,
        );
        $room = $client->createQuickVideoRoom(['name' => 'Zoë', 'metadata' => []]);
        same(['r', 'req_1', [], []], [
            $room->room_id,
            $room->request_id,
            $room->ignored_fields,
            $room->features_adjusted,
        ], $room);
        $body = '{"project_id":"' . Fixtures::PROJECT_ID . '","name":"Zoë","metadata":{}}';
        same($body, (string) $sent[0]->getBody(), 1);
        same('/api/v4/rooms/create_quick_video_room', $sent[0]->getRequestTarget(), 1);
    },

    'a body that stalls is not read for ever' => static function (): void {
        $stalled = FnStream::decorate((new HttpFactory())->createStream(), [
            'isSeekable' => static fn (): bool => false,
            'eof' => static fn (): bool => false,
            'read' => static fn (): string => '',
        ]);
        foreach ([[200, ConnectionException::class], [403, ForbiddenException::class]] as [$status, $class]) {
            $httpClient = new class (new Response($status, [], $stalled)) implements ClientInterface {
                public function __construct(private readonly ResponseInterface $response)
                {
                }

                public function sendRequest(RequestInterface $request): ResponseInterface
                {
                    return $this->response;
                }
            };
            $client = Fixtures::client('https://meet.example.org', httpClient: $httpClient, maxAttempts: 1);
            thrown($class, static fn () => $client->keys(), $status);
        }
    },

    'an iterator throws where its page is read' => static function (): void {
        $room = '{"room_id":"r1","room_type":"video","state":"open","room_title":"t","joined_participants":0,'
            . '"max_participants":5,"created_at":"2026-11-21T09:00:00Z"}';
        $server = new Server([
            ['body' => '{"rooms":[' . $room . '],"next_cursor":"c"}'],
            ['status' => 503, 'headers' => ['Retry-After' => '60'], 'body' => '{"error":"later"}'],
        ]);
        $rooms = Fixtures::client($server->url)->rooms();
        same(0, count($server->requests()), 'before the first room');
        same('r1', $rooms->current()->room_id, 'first room');
        same(1, count($server->requests()), 'after the first room');
        $problem = thrown(UnavailableException::class, static fn () => $rooms->next(), 'second page');
        same(60, $problem->retry_after, 'second page');
    },

    'a secret is redacted before a message is cut' => static function (): void {
        $long = str_repeat('ä', 480) . Fixtures::PROJECT_SECRET;
        $server = new Server([['status' => 400, 'body' => (string) json_encode(['error' => $long])]]);
        $client = Fixtures::client($server->url);
        $problem = thrown(InvalidRequestException::class, static fn () => $client->keys(), $long);
        same(str_repeat('ä', 480) . '[redacted]', $problem->error_message, $long);
        contains('"message":"ä', (string) json_encode($problem, JSON_UNESCAPED_UNICODE), $long);
    },
];
