<?php

declare(strict_types=1);

use Parley\Client;
use Parley\Exception\ConnectionException;
use Parley\Exception\InvalidArgumentException;
use Parley\Exception\MissingCredentialException;
use Parley\Exception\ParleyException;
use Parley\Laravel\VerifyWebhook;
use Parley\Tests\Fixtures;
use Parley\Tests\Server;

use function Parley\Tests\contains;
use function Parley\Tests\same;
use function Parley\Tests\show;
use function Parley\Tests\thrown;

return [
    'base URLs' => static function (): void {
        $good = [
            'https://meet.example.org' => 'https://meet.example.org',
            'https://meet.example.org/' => 'https://meet.example.org',
            'HTTPS://Meet.example.org' => 'https://Meet.example.org',
            'http://127.0.0.1:8080' => 'http://127.0.0.1:8080',
            'http://[::1]:8080/' => 'http://[::1]:8080',
        ];
        foreach ($good as $url => $want) {
            same($want, Fixtures::client($url)->jsonSerialize()['base_url'], $url);
        }
        $absolute = 'base_url must be an absolute http or https URL';
        $valid = 'base_url is not a valid URL';
        $bare = 'base_url must not have a path, query or fragment';
        $bad = [
            '' => $absolute,
            'meet.example.org' => $absolute,
            'ftp://meet.example.org' => $absolute,
            'https://' => $absolute,
            'https:///a' => $absolute,
            'https://u:hunter2@example.org' => 'base_url must not contain a user or password',
            'https://u:hunter2@exa mple' => $valid,
            "https://example.org\n" => $valid,
            'https://exämple.org' => $valid,
            'https://example.org:port' => $valid,
            'https://[::1' => $valid,
            'https://example.org:0' => 'base_url must have a port between 1 and 65535',
            'https://example.org:65536' => 'base_url must have a port between 1 and 65535',
            'https://example.org/parley' => $bare,
            'https://example.org?' => $bare,
            'https://example.org?a=b' => $bare,
            'https://example.org/#f' => $bare,
        ];
        foreach ($bad as $url => $want) {
            $problem = thrown(InvalidArgumentException::class, static fn () => Fixtures::client($url), $url);
            same($want, $problem->getMessage(), $url);
        }
    },

    'credentials that cannot be right' => static function (): void {
        $cases = [
            [['gatewaySecret' => "gs_1\n"], 'gateway_secret must be printable ASCII without spaces, '
                . 'but has another character at position 5'],
            [['projectId' => ' x'], 'project_id must be printable ASCII without spaces, '
                . 'but has another character at position 1'],
            [['apiKey' => 'pk_ä'], 'api_key must be printable ASCII without spaces, '
                . 'but has another character at position 4'],
            [['gatewaySecret' => 'whsec_x'], 'gateway_secret begins with whsec_, so it is a project secret'],
            [['gatewaySecret' => 'pk_x'], 'gateway_secret begins with pk_, so it is an API key'],
            [['apiKey' => 'gs_x'], 'api_key begins with gs_, so it is a Gateway secret'],
            [['projectSecret' => 'gs_x'], 'project_secret begins with gs_, so it is a Gateway secret'],
            [['projectId' => 'pk_x'], 'project_id begins with pk_, so it is an API key'],
        ];
        foreach ($cases as [$arguments, $want]) {
            $call = static fn () => Fixtures::client('https://example.org', ...$arguments);
            same($want, thrown(InvalidArgumentException::class, $call, $arguments)->getMessage(), $arguments);
        }
    },

    'options out of range' => static function (): void {
        $cases = [
            [['timeout' => 0.0], 'timeout must be a number of seconds above 0'],
            [['timeout' => INF], 'timeout must be a number of seconds above 0'],
            [['deadline' => -1.0], 'deadline must be a number of seconds above 0'],
            [['maxAttempts' => 0], 'max_attempts must be at least 1, not 0'],
            [['version' => 5], 'version must be 3 or 4, not 5'],
            [['userAgent' => ''], 'user_agent must be printable ASCII'],
            [['userAgent' => "a\r\nb"], 'user_agent must be printable ASCII'],
        ];
        foreach ($cases as [$arguments, $want]) {
            $call = static fn () => Fixtures::client('https://example.org', ...$arguments);
            same($want, thrown(InvalidArgumentException::class, $call, $arguments)->getMessage(), $arguments);
        }
    },

    'missing credentials, also before the first page of an iterator' => static function (): void {
        $server = new Server([]);
        $client = new Client($server->url, projectId: Fixtures::PROJECT_ID, apiKey: Fixtures::API_KEY);
        $calls = [
            'gateway_secret' => [
                static fn () => $client->keys(),
                static fn () => $client->rooms(),
                static fn () => $client->requests(),
                static fn () => $client->allPastRooms(),
                static fn () => $client->roomEvents(['room_id' => Fixtures::ROOM_ID]),
                static fn () => $client->endRoom(['room_id' => Fixtures::ROOM_ID]),
            ],
            'project_secret' => [static fn () => $client->sendJoinEvent(['room_id' => 'r', 'name' => 'Zoë'])],
        ];
        foreach ($calls as $field => $some) {
            foreach ($some as $call) {
                $problem = thrown(MissingCredentialException::class, $call, $field);
                same("this call needs $field\nPass $field to the client.", $problem->getMessage(), $field);
            }
        }
        same([], $server->requests(), 'requests');
    },

    'nothing that is printed contains a secret' => static function (): void {
        ini_set('zend.exception_ignore_args', '0');
        $client = Fixtures::client('http://127.0.0.1:9', maxAttempts: 1);
        $echo = Fixtures::API_KEY . Fixtures::GATEWAY_SECRET . Fixtures::PROJECT_SECRET;
        $server = new Server([['status' => 400, 'body' => json_encode(['error' => $echo])]]);
        $talking = Fixtures::client($server->url);
        $problems = [
            thrown(ConnectionException::class, static fn () => $client->keys(), 'port 9'),
            thrown(ParleyException::class, static fn () => $talking->keys(), 'echo'),
            // The stack trace would contain the secret as an argument of the closure.
            thrown(
                InvalidArgumentException::class,
                static fn () => (static fn (string $s) => new Client('nowhere', gatewaySecret: $s))(
                    Fixtures::GATEWAY_SECRET,
                ),
                'nowhere',
            ),
        ];
        ob_start();
        foreach ([$client, $talking, new VerifyWebhook(Fixtures::PROJECT_SECRET), ...$problems] as $thing) {
            var_dump($thing, (array) $thing);
            print_r($thing);
            @var_export($thing);
            echo json_encode($thing), $thing instanceof Stringable ? $thing : '';
        }
        $printed = (string) ob_get_clean();
        foreach ([Fixtures::API_KEY, Fixtures::GATEWAY_SECRET, Fixtures::PROJECT_SECRET] as $secret) {
            // A stack trace as text has the first 15 characters of an argument.
            same(false, str_contains($printed, substr($secret, 0, 14)), $printed);
            same(false, str_contains($printed, substr($secret, 8)), $printed);
        }
        contains(Fixtures::PROJECT_ID, $printed, 'printed');
        contains('[redacted][redacted][redacted]', $printed, 'printed');
        thrown(LogicException::class, static fn () => serialize($client), show($client));
    },

    'without Guzzle the error names the argument to pass' => static function (): void {
        $code = <<<'PHP'
            spl_autoload_register(static function (string $class): void {
                $file = $_SERVER['argv'][1] . '/src/' . strtr(substr($class, 7), '\\', '/') . '.php';
                str_starts_with($class, 'Parley\\') && is_file($file) && require $file;
            });
            require '/usr/share/php/Psr/Http/Client/autoload.php';
            require '/usr/share/php/Psr/Http/Message/autoload.php';
            try {
                new Parley\Client('https://example.org');
            } catch (Parley\Exception\InvalidArgumentException $problem) {
                echo $problem->getMessage(), "\n";
            }
            $client = new class implements Psr\Http\Client\ClientInterface {
                public function sendRequest(
                    Psr\Http\Message\RequestInterface $request,
                ): Psr\Http\Message\ResponseInterface {
                    throw new LogicException();
                }
            };
            try {
                new Parley\Client('https://example.org', httpClient: $client);
            } catch (Parley\Exception\InvalidArgumentException $problem) {
                echo $problem->getMessage(), "\n";
            }
            PHP;
        $command = implode(' ', array_map('escapeshellarg', [PHP_BINARY, '-r', $code, dirname(__DIR__)]));
        same(
            "Guzzle 7 is not installed, so pass a PSR-18 client as httpClient\n"
            . "guzzlehttp/psr7 is not installed, so pass a PSR-17 factory as requestFactory\n",
            shell_exec($command . ' 2>&1'),
            $code,
        );
    },

    'the version is that of the package' => static function (): void {
        $package = json_decode((string) file_get_contents(__DIR__ . '/../composer.json'), true);
        same($package['version'], Client::VERSION, 'composer.json');
        $server = new Server([['body' => Fixtures::STATUS]]);
        Fixtures::client($server->url)->roomStatus(['room_id' => Fixtures::ROOM_ID]);
        same('parley-php/' . Client::VERSION, $server->requests()[0]['headers']['user-agent'], 'User-Agent');
    },
];
