<?php

declare(strict_types=1);

use Illuminate\Container\Container;
use Illuminate\Events\Dispatcher;
use Illuminate\Http\Request;
use Illuminate\Routing\Router;
use Parley\Laravel\VerifyWebhook;
use Parley\Tests\Fixtures;
use Parley\Types\Event;
use Symfony\Component\HttpFoundation\Response;

use function Parley\Tests\same;
use function Parley\Tests\thrown;

require_once '/usr/share/php/Illuminate/Routing/autoload.php';
require_once '/usr/share/php/Illuminate/Events/autoload.php';

/** @param array<string, string> $headers */
$post = static function (array $headers, ?Throwable $problem = null): Response {
    $container = new Container();
    $container->instance('config', new class {
        public function get(string $key): ?string
        {
            return $key === 'services.parley.project_secret' ? Fixtures::PROJECT_SECRET : null;
        }
    });
    $container->when(VerifyWebhook::class)->needs('$secrets')->giveConfig('services.parley.project_secret');
    $router = new Router(new Dispatcher($container), $container);
    $router->post('/hook', static function (Request $request) use ($problem): string {
        if ($problem !== null) {
            throw $problem;
        }
        return $request->attributes->get(Event::class)->type;
    })->middleware(VerifyWebhook::class);
    $server = [];
    foreach ($headers as $name => $value) {
        $server['HTTP_' . strtoupper(strtr($name, '-', '_'))] = $value;
    }
    $request = Request::create('/hook', 'POST', [], [], [], $server, Fixtures::EVENT);
    $container->instance(Request::class, $request); // as the kernel of Laravel does
    return $router->dispatch($request);
};

return [
    'a valid webhook reaches the route' => static function () use ($post): void {
        $response = $post(Fixtures::webhook(Fixtures::EVENT));
        same([200, 'room.started'], [$response->getStatusCode(), $response->getContent()], 'valid');
    },

    'another request gets 401' => static function () use ($post): void {
        $response = $post(Fixtures::webhook(Fixtures::EVENT, Fixtures::OTHER_SECRET));
        same([401, "no signature matches\n"], [$response->getStatusCode(), $response->getContent()], 'another secret');
        same([401, "missing header webhook-id\n"], [$post([])->getStatusCode(), $post([])->getContent()], 'no headers');
    },

    'an exception of the route passes through' => static function () use ($post): void {
        $call = static fn () => $post(Fixtures::webhook(Fixtures::EVENT), new DomainException('database'));
        thrown(DomainException::class, $call, 'database');
    },
];
