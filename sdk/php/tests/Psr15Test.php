<?php

declare(strict_types=1);

use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\NoSeekStream;
use GuzzleHttp\Psr7\Utils;
use Nyholm\Psr7\Factory\Psr17Factory;
use Nyholm\Psr7\ServerRequest;
use Parley\Tests\Fixtures;
use Parley\Types\Event;
use Parley\Webhook\Handler;
use Parley\Webhook\Middleware;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use Psr\Http\Server\RequestHandlerInterface;

use function Parley\Tests\same;
use function Parley\Tests\thrown;

// Debian has these interfaces only in the extension psr, which excludes Composer.
if (!interface_exists(RequestHandlerInterface::class)) {
    require __DIR__ . '/support/psr15/RequestHandlerInterface.php';
    require __DIR__ . '/support/psr15/MiddlewareInterface.php';
}

$valid = static fn (): ServerRequest => new ServerRequest(
    'POST',
    'https://example.org/hook',
    Fixtures::webhook(Fixtures::EVENT),
    Fixtures::EVENT,
);

return [
    'the handler calls a function and responds' => static function () use ($valid): void {
        $large = (new Psr17Factory())->createStream(str_repeat(' ', (1 << 20) + 1));
        foreach ([new Psr17Factory(), new HttpFactory()] as $factory) {
            $read = $valid();
            $read->getBody()->getContents();
            $once = new NoSeekStream(Utils::streamFor(Fixtures::EVENT));
            $cases = [
                'valid' => [$valid(), 204],
                'not seekable' => [$valid()->withBody($once), 204],
                'read before' => [$read, 204],
                'changed' => [$valid()->withHeader('webhook-id', 'e2'), 401],
                'no header' => [$valid()->withoutHeader('webhook-id'), 401],
                'another method' => [$valid()->withMethod('GET'), 405],
                'too large' => [$valid()->withBody($large), 413],
            ];
            foreach ($cases as $name => [$request, $status]) {
                $events = [];
                $handle = static function (Event $event) use (&$events): void {
                    $events[] = $event;
                };
                $response = (new Handler(Fixtures::PROJECT_SECRET, $handle, $factory))->handle($request);
                same([$status, $status === 204 ? 1 : 0], [$response->getStatusCode(), count($events)], $name);
                same($status === 204, (string) $response->getBody() === '', $name);
            }
        }
    },

    'an exception of the function is reported and becomes 500' => static function () use ($valid): void {
        $reported = [];
        $handler = new Handler(
            [Fixtures::OTHER_SECRET, Fixtures::PROJECT_SECRET],
            static fn () => throw new DomainException('database'),
            new Psr17Factory(),
            report: static function (Throwable $problem) use (&$reported): void {
                $reported[] = $problem->getMessage();
            },
        );
        same(500, $handler->handle($valid())->getStatusCode(), 'database');
        same(['database'], $reported, 'database');
    },

    'without a function for reports, an exception is in the log' => static function () use ($valid): void {
        $log = (string) tempnam(sys_get_temp_dir(), 'parley');
        $before = ini_set('error_log', $log);
        try {
            $throw = static fn () => throw new DomainException('database');
            (new Handler(Fixtures::PROJECT_SECRET, $throw, new Psr17Factory()))->handle($valid());
            $logged = (string) file_get_contents($log);
        } finally {
            ini_set('error_log', (string) $before);
            unlink($log);
        }
        same(1, preg_match('/Parley webhook was not handled: DomainException: database/', $logged), $logged);
        same(false, str_contains($logged, 'whsec_'), $logged);
    },

    'a wrong secret is reported, not a refused webhook' => static function () use ($valid): void {
        $reported = 0;
        $report = static function () use (&$reported): void {
            $reported++;
        };
        $handler = new Handler('whsec_x', static fn () => null, new Psr17Factory(), report: $report);
        same([500, 1], [$handler->handle($valid())->getStatusCode(), $reported], 'whsec_x');
    },

    'the middleware passes the event to the next handler' => static function () use ($valid): void {
        $next = new class implements RequestHandlerInterface {
            public ?ServerRequestInterface $request = null;

            public function handle(ServerRequestInterface $request): ResponseInterface
            {
                $this->request = $request;
                return (new Psr17Factory())->createResponse(202);
            }
        };
        $middleware = new Middleware(Fixtures::PROJECT_SECRET, new Psr17Factory());
        $response = $middleware->process($valid()->withHeader('webhook-signature', 'v1,'), $next);
        same([401, "no signature matches\n"], [$response->getStatusCode(), (string) $response->getBody()], 'v1,');
        same(null, $next->request, 'v1,');
        same(202, $middleware->process($valid(), $next)->getStatusCode(), 'valid');
        same('room.started', $next->request?->getAttribute(Event::class)?->type, 'valid');
        same(Fixtures::EVENT, $next->request?->getBody()->getContents(), 'the body can be read again');
    },

    'the middleware does not catch exceptions of the next handler' => static function () use ($valid): void {
        $next = new class implements RequestHandlerInterface {
            public function handle(ServerRequestInterface $request): ResponseInterface
            {
                throw new DomainException('database');
            }
        };
        $middleware = new Middleware(Fixtures::PROJECT_SECRET, new Psr17Factory());
        thrown(DomainException::class, static fn () => $middleware->process($valid(), $next), 'database');
    },
];
