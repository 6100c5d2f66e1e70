<?php

declare(strict_types=1);

use Parley\Exception\InvalidArgumentException;
use Parley\Exception\MissingCredentialException;
use Parley\Signature;
use Parley\Tests\Fixtures;
use Parley\Tests\Server;

use function Parley\Tests\between;
use function Parley\Tests\same;
use function Parley\Tests\thrown;

/**
 * Returns the claims of a token after a check of its header and its signature.
 *
 * @return array<string, mixed>
 */
$verified = static function (string $token): array {
    [$header, $claims, $signature] = explode('.', $token);
    $decode = static fn (string $part): string => (string) base64_decode(strtr($part, '-_', '+/'), true);
    same(1, preg_match('/\A[\w-]+\.[\w-]+\.[\w-]{43}\z/', $token), $token);
    same('{"alg":"HS256","typ":"JWT"}', $decode($header), $token);
    same(hash_hmac('sha256', "$header.$claims", Fixtures::PROJECT_SECRET, true), $decode($signature), $token);
    return json_decode($decode($claims), true, flags: JSON_THROW_ON_ERROR);
};

/**
 * Returns the claims of a link without its ID and its times, which are checked.
 *
 * @return array<string, mixed>
 */
$claims = static function (
    string $link,
    int $age,
    string $base = Fixtures::BASE_URL,
    int $ahead = 0,
) use ($verified): array {
    [$address, $token] = explode('#j=', $link);
    same($base . '/r/' . Fixtures::ROOM_ID, $address, $link);
    $claims = $verified($token);
    same(1, preg_match('/\A[0-9a-f]{32}\z/', $claims['jti']), $claims);
    same(true, is_int($claims['iat']), $claims);
    between(-3, 3, $claims['iat'] - microtime(true) - $ahead, $claims);
    same($age, $claims['exp'] - $claims['iat'], $claims);
    return array_diff_key($claims, ['jti' => '', 'iat' => '', 'exp' => '']);
};

return [
    'the claims are those of the arguments' => static function () use ($claims): void {
        $client = Fixtures::client(Fixtures::BASE_URL);
        $room = ['room_id' => Fixtures::ROOM_ID];
        same($room + ['role' => 'guest'], $claims($client->signJoinLink($room), 3600), 'the defaults');
        $all = $room + ['role' => 'host', 'name' => 'Zoë ' . str_repeat('🎉', 251), 'user_id' => '4711',
            'single_use' => true];
        same($all, $claims($client->signJoinLink($all + ['expires_in' => 86_400]), 86_400), $all);
        $least = $room + ['role' => 'cohost', 'name' => '', 'user_id' => null, 'single_use' => false];
        $got = $claims($client->signJoinLink($least + ['expires_in' => 1]), 1);
        same($room + ['role' => 'cohost'], $got, $least);
    },

    'two links differ' => static function (): void {
        $client = Fixtures::client(Fixtures::BASE_URL);
        $sign = static fn (): string => $client->signJoinLink(['room_id' => Fixtures::ROOM_ID]);
        same(20, count(array_unique(array_map($sign, range(1, 20)))), 'links');
    },

    'the ID of the room is escaped in the address' => static function () use ($verified): void {
        $link = Fixtures::client(Fixtures::BASE_URL)->signJoinLink(['room_id' => 'a/b #é']);
        [$address, $token] = explode('#j=', $link);
        same(Fixtures::BASE_URL . '/r/a%2Fb%20%23%C3%A9', $address, 'a/b #é');
        same('a/b #é', $verified($token)['room_id'], 'a/b #é');
    },

    'a link is issued at the time of the server, and nothing is sent' => static function () use ($claims): void {
        $server = new Server([['body' => Fixtures::STATUS, 'date' => 7200]]);
        $client = Fixtures::client($server->url);
        $room = ['room_id' => Fixtures::ROOM_ID];
        $client->roomStatus($room);
        $claims($client->signJoinLink($room), 3600, $server->url, 7200);
        same(1, count($server->requests()), 'requests');
    },

    'bad arguments' => static function (): void {
        $client = Fixtures::client(Fixtures::BASE_URL);
        $room = 'room_id must be a string that is not empty';
        $role = 'role must be "host", "cohost" or "guest"';
        $text = ' must be a string of at most 255 Unicode characters';
        $age = 'expires_in must be an integer between 1 and 86400';
        $cases = [
            [['room_id' => ''], $room],
            [['room_id' => null], $room],
            [['room_id' => 5], $room],
            [['room_id' => '..'], 'room_id must not be ..'],
            [['role' => 'admin'], $role],
            [['role' => ''], $role],
            [['role' => true], $role],
            [['role' => Fixtures::PROJECT_SECRET], $role],
            [['name' => str_repeat('ä', 256)], 'name' . $text],
            [['name' => 5], 'name' . $text],
            [['name' => "a\xff"], 'name' . $text],
            [['user_id' => str_repeat('🎉', 256)], 'user_id' . $text],
            [['single_use' => 'true'], 'single_use must be a boolean'],
            [['single_use' => 0], 'single_use must be a boolean'],
            [['expires_in' => 0], $age],
            [['expires_in' => 86_401], $age],
            [['expires_in' => 60.0], $age],
            [['expires_in' => '60'], $age],
            [['userid' => '4711'], 'this call has no argument userid'],
        ];
        foreach ($cases as [$fields, $want]) {
            $call = static fn () => $client->signJoinLink($fields + ['room_id' => Fixtures::ROOM_ID]);
            same($want, thrown(InvalidArgumentException::class, $call, $fields)->getMessage(), $fields);
        }
        thrown(InvalidArgumentException::class, static fn () => $client->signJoinLink(['room_id' => "\xff"]), 'UTF-8');
    },

    'a link needs the project secret' => static function (): void {
        $client = Fixtures::client(Fixtures::BASE_URL, projectSecret: '');
        $call = static fn () => $client->signJoinLink(['room_id' => Fixtures::ROOM_ID]);
        $problem = thrown(MissingCredentialException::class, $call, 'without a secret');
        same('Pass project_secret to the client.', $problem->remedy, 'without a secret');
    },

    'Signature::joinLink signs the claims that it gets' => static function () use ($verified): void {
        $claims = ['room_id' => 'r', 'role' => 'guest', 'iat' => Fixtures::NOW, 'exp' => Fixtures::NOW + 1];
        same($claims, $verified(Signature::joinLink(Fixtures::PROJECT_SECRET, $claims)), $claims);
        $single = ['room_id' => 'r', 'role' => 'guest', 'single_use' => true, 'jti' => 'a1'] + $claims;
        same($single, $verified(Signature::joinLink(Fixtures::PROJECT_SECRET, $single)), $single);
        $host = ['room_id' => 'r', 'role' => 'host', 'jti' => 'a1'] + $claims;
        same($host, $verified(Signature::joinLink(Fixtures::PROJECT_SECRET, $host)), $host);
        $wrong = [
            ['room_id' => ''],
            ['role' => 'admin'],
            ['role' => null],
            ['single_use' => true],
            ['role' => 'host'],
            ['role' => 'cohost', 'jti' => ''],
            ['jti' => 5],
            ['iat' => null],
            ['iat' => 1.5],
            ['exp' => Fixtures::NOW],
            ['exp' => Fixtures::NOW + 86_401],
            ['exp' => (string) (Fixtures::NOW + 1)],
            ['sub' => 'x'],
        ];
        foreach ($wrong as $fields) {
            $call = static fn () => Signature::joinLink(Fixtures::PROJECT_SECRET, $fields + $claims);
            thrown(InvalidArgumentException::class, $call, $fields);
        }
    },
];
