<?php

declare(strict_types=1);

use GuzzleHttp\Psr7\HttpFactory;
use Parley\Exception\ConnectionException;
use Parley\Exception\UnauthorizedException;
use Parley\Exception\UnavailableException;
use Parley\Internal\Backoff;
use Parley\Internal\Clock;
use Parley\Internal\Credentials;
use Parley\Internal\DefaultClient;
use Parley\Internal\HttpDate;
use Parley\Internal\Request;
use Parley\Internal\Sender;
use Parley\Internal\Signer;
use Parley\Internal\Transport;
use Parley\Tests\Fixtures;
use Parley\Tests\Server;

use function Parley\Tests\between;
use function Parley\Tests\same;
use function Parley\Tests\thrown;

$unavailable = ['status' => 503, 'body' => '{"error":"try again"}'];
$refused = ['status' => 401, 'body' => '{"error":"invalid signature"}'];

return [
    'the wait doubles, with jitter' => static function (): void {
        $longest = 0.25;
        foreach ([1, 2, 3, 4, 5, 6, 7, 8, 9, 100] as $attempt) {
            for ($i = 0; $i < 50; $i++) {
                between($longest / 2, $longest, Backoff::wait($attempt, null), $attempt);
                between(20, 30, Backoff::wait($attempt, 20), "$attempt with Retry-After 20");
            }
            $longest = min(30, 2 * $longest);
        }
        same(true, Backoff::wait(1, 20) !== Backoff::wait(1, 20), 'two waits with Retry-After 20');
    },

    'Retry-After in both forms' => static function (): void {
        $date = (int) HttpDate::parse('Fri, 27 Nov 2026 10:00:00 GMT');
        $cases = [
            '' => null,
            '7' => 7,
            '0' => 0,
            '-5' => 0,
            '99999999999999999999' => 86_400,
            '-99999999999999999999' => 0,
            '86401' => 86_400,
            '5.5' => null,
            'soon' => null,
            'Fri, 27 Nov 2026 10:00:20 GMT' => 20,
            'Friday, 27-Nov-26 10:00:20 GMT' => 20,
            'Fri Nov 27 10:00:20 2026' => 20,
            'Thu, 01 Jan 1970 00:00:00 GMT' => 0,
            'Sat, 27 Nov 2027 10:00:00 GMT' => 86_400,
        ];
        foreach ($cases as $header => $want) {
            same($want, Backoff::retryAfter((string) $header, $date), $header);
        }
        $soon = gmdate('D, d M Y H:i:s', time() + 20) . ' GMT';
        between(18, 20, (float) Backoff::retryAfter($soon, null), $soon);
    },

    'dates' => static function (): void {
        $cases = [
            'Sun, 06 Nov 1994 08:49:37 GMT' => 784_111_777,
            'Sunday, 06-Nov-94 08:49:37 GMT' => 784_111_777,
            'Sun Nov  6 08:49:37 1994' => 784_111_777,
            'Sun Nov 16 08:49:37 1994' => 784_975_777,
            'Mon, 06 Nov 1994 08:49:37 GMT' => 784_111_777, // PHP would take the next Monday
            'Sun, 31 Apr 1994 08:49:37 GMT' => null,
            'Sun, 06 Nov 1994 25:49:37 GMT' => null,
            'Sun, 06 Xyz 1994 08:49:37 GMT' => null,
            'Sun, 06 Nov 1994 08:49:37 CET' => null,
            'tomorrow' => null,
            '' => null,
        ];
        foreach ($cases as $text => $want) {
            same($want, HttpDate::parse($text), $text);
        }
    },

    'the clock is corrected only as far as a Date proves it' => static function (): void {
        $cases = [
            // sent, received and date; then the offset
            [[100.0, 100.5, 100], 0.0],
            [[100.9, 101.1, 100], 0.0],
            [[100.0, 100.0, 4000], 3900.5],
            [[4000.0, 4000.0, 100], -3899.5],
            [[100.0, 110.0, 90], -14.5],
        ];
        foreach ($cases as [$times, $want]) {
            $clock = new Clock();
            $clock->observe(...$times);
            same($want, $clock->offset(), $times);
            $clock->observe(...$times);
            same($want, $clock->offset(), 'again');
        }
    },

    'an attempt after a correction is not counted' => static function () use ($unavailable, $refused): void {
        $hour = ['date' => 3600];
        $server = new Server([$refused + $hour, $unavailable + $hour, ['body' => Fixtures::STATUS] + $hour]);
        Fixtures::client($server->url, maxAttempts: 2)->roomStatus(['room_id' => Fixtures::ROOM_ID]);
        $requests = $server->requests();
        same(3, count($requests), $requests);
        $off = array_map(static fn (array $r): int => (int) $r['headers']['timestamp'] - (int) $r['at'], $requests);
        between(-1, 1, $off[0], $off);
        between(3598, 3602, $off[1], $off);
        between(3598, 3602, $off[2], $off);
    },

    'a server whose clock jumps is asked once more' => static function () use ($refused): void {
        $server = new Server([$refused + ['date' => 3600], $refused + ['date' => 7200], $refused]);
        $client = Fixtures::client($server->url, maxAttempts: 5);
        $call = static fn () => $client->roomStatus(['room_id' => Fixtures::ROOM_ID]);
        same(2, thrown(UnauthorizedException::class, $call, 'jumping')->attempts, 'jumping');
        same(2, count($server->requests()), 'jumping');
    },

    'a body signature has no time, so that the clock changes nothing' => static function () use ($refused): void {
        $server = new Server([$refused + ['date' => 3600]]);
        $call = static fn () => Fixtures::client($server->url)->updateProjectStatus(['status' => 'active']);
        thrown(UnauthorizedException::class, $call, 'an hour ahead');
        same(1, count($server->requests()), 'an hour ahead');
    },

    'a request is not repeated after its window' => static function () use ($unavailable): void {
        foreach ([[0.05, 1], [20.0, 2]] as [$window, $want]) {
            $server = new Server([$unavailable, $unavailable]);
            $factory = new HttpFactory();
            $transport = new Transport(
                $server->url,
                new Credentials('', Fixtures::PROJECT_SECRET, '', ''),
                new Sender(DefaultClient::create(10)),
                $factory,
                $factory,
                'test',
                2,
            );
            $request = new Request('POST', '/', Signer::ProjectSecret, '{}', repeatable: true, retryWindow: $window);
            thrown(UnavailableException::class, static fn () => $transport->send($request), $window);
            same($want, count($server->requests()), $window);
        }
    },

    'a call makes no further attempt after its deadline' => static function () use ($unavailable): void {
        $later = $unavailable + ['headers' => ['Retry-After' => '10']];
        $server = new Server([$later, $later]);
        $client = Fixtures::client($server->url, deadline: 5.0);
        $began = microtime(true);
        thrown(UnavailableException::class, static fn () => $client->keys(), 'Retry-After 10');
        between(0, 5, microtime(true) - $began, 'Retry-After 10');
        same(1, count($server->requests()), 'Retry-After 10');
    },

    'curl does not repeat a request that was lost on an idle connection' => static function (): void {
        $room = ['status' => 200, 'body' => Fixtures::STATUS];
        $server = new Server([$room, ['drop' => true], ['body' => '{"status":true,"msg":"over"}']]);
        $client = Fixtures::client($server->url);
        $client->roomStatus(['room_id' => Fixtures::ROOM_ID]);
        $call = static fn () => $client->endRoom(['room_id' => Fixtures::ROOM_ID]);
        same(1, thrown(ConnectionException::class, $call, 'drop')->attempts, 'drop');
        same(2, count($server->requests()), 'requests of both calls');
    },

    'an attempt ends after the timeout' => static function (): void {
        $server = new Server([['delay' => 20, 'body' => Fixtures::STATUS]]);
        $client = Fixtures::client($server->url, timeout: 0.3, maxAttempts: 1);
        $began = microtime(true);
        $problem = thrown(ConnectionException::class, static fn () => $client->roomStatus(['room_id' => 'r']), '0.3 s');
        between(0.2, 15, microtime(true) - $began, $problem->getMessage());
    },
];
