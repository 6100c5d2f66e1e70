<?php

declare(strict_types=1);

use Parley\Exception\InvalidArgumentException;
use Parley\Internal\Body;
use Parley\Tests\Fixtures;
use Parley\Tests\Server;

use function Parley\Tests\contains;
use function Parley\Tests\same;
use function Parley\Tests\thrown;

return [
    'bodies' => static function (): void {
        $cases = [
            [[], '{}'],
            [['room_ids' => []], '{"room_ids":[]}'],
            [['room_ids' => [1 => 'a', 3 => 'b']], '{"room_ids":["a","b"]}'],
            [['people' => [1 => ['name' => 'a'], 3 => ['name' => 'b']]], '{"people":[{"name":"a"},{"name":"b"}]}'],
            [['metadata' => []], '{"metadata":{}}'],
            [['metadata' => ['room_features' => []]], '{"metadata":{"room_features":{}}}'],
            [
                ['metadata' => ['room_features' => ['breakout_room_features' => []]]],
                '{"metadata":{"room_features":{"breakout_room_features":{}}}}',
            ],
            [['user_info' => []], '{"user_info":{}}'],
            [['name' => "Zoë/\u{1F600}"], "{\"name\":\"Zoë/\u{1F600}\"}"],
            [['max_participants' => 5.0], '{"max_participants":5.0}'],
            [['name' => null, 'user_info' => ['name' => 'a', 'client_user_id' => null]], '{"user_info":{"name":"a"}}'],
            [['empty_timeout' => 0, 'is_admin' => false], '{"empty_timeout":0,"is_admin":false}'],
        ];
        foreach ($cases as [$fields, $want]) {
            same($want, Body::encode($fields), $fields);
        }
    },

    'arguments that are not JSON' => static function (): void {
        $itself = ['metadata' => []];
        $itself['metadata']['x'] = &$itself;
        $cases = [
            [['name' => "\xff"], 'name must be UTF-8'],
            [['metadata' => ['room_title' => "Zo\xeb"]], 'metadata.room_title must be UTF-8'],
            [['people' => [['name' => 'a'], ['name' => "\xff"]]], 'people[1].name must be UTF-8'],
            [['room_ids' => ['a', 'b', 3 => "\xff"]], 'room_ids[2] must be UTF-8'],
            [['name' => 'a', 'seconds' => NAN], 'seconds cannot be written as JSON: Inf and NaN cannot be'],
            [['name' => STDIN], 'name cannot be written as JSON: Type is not supported'],
            [["a\xff" => 1], 'the arguments cannot be written as JSON: '],
            [$itself, 'metadata cannot be written as JSON: '],
        ];
        foreach ($cases as $index => [$fields, $want]) {
            $problem = thrown(InvalidArgumentException::class, static fn () => Body::encode($fields), $index);
            contains($want, $problem->getMessage(), $index);
        }
    },

    'arguments with which nothing is sent' => static function (): void {
        $server = new Server([]);
        $client = Fixtures::client($server->url);
        $key = 'idempotency_key must have 1 to 255 characters, all of them printable ASCII';
        $space = 'idempotency_key must not begin or end with a space';
        $other = 'project_id must be left out, because the client adds its own';
        $cases = [
            [static fn () => $client->joinRoom(['room_id' => 'r', 'idempotency_key' => '']), $key],
            [static fn () => $client->joinRoom(['room_id' => 'r', 'idempotency_key' => 5]), $key],
            [static fn () => $client->createQuickVideoRoom(['idempotency_key' => "é"]), $key],
            [static fn () => $client->rescheduleRoom(['room_id' => 'r', 'idempotency_key' => ' a']), $space],
            [static fn () => $client->createQuickVideoRoom(['project_id' => 'other']), $other],
            [static fn () => $client->roomEvents(['room_id' => "\xff"]), 'room_id must be UTF-8'],
            [static fn () => $client->roomStatus(['room_id' => "\xff"]), 'room_id must be UTF-8'],
            [static fn () => $client->rooms(['state' => "\xff"]), 'state must be UTF-8'],
            [static fn () => $client->sendJoinEvent(['room_id' => 'r', 'name' => "\xff"]), 'name must be UTF-8'],
            [static fn () => $client->roomEvents(['room_id' => '..']), 'room_id must not be ..'],
            [static fn () => $client->sendJoinEvent(['room_id' => '.', 'name' => 'a']), 'room_id must not be .'],
            [
                static fn () => $client->roomEvents(['room_id' => 'r', 'after' => -1]),
                'after must be an integer of at least 0',
            ],
            [static fn () => $client->requests(['limit' => '5']), 'limit must be an integer of at least 1'],
            [static fn () => $client->rooms(['sate' => 'ended']), 'this call has no argument sate'],
            [
                static fn () => $client->endRoom(['room_id' => 'r', 'idempotency_key' => 'k']),
                'this call has no argument idempotency_key',
            ],
            [static fn () => $client->openapi(['version' => 6]), 'version must be 3, 4 or 5'],
            [static fn () => $client->openapi([]), 'version must be 3, 4 or 5'],
        ];
        foreach ($cases as $index => [$call, $want]) {
            same($want, thrown(InvalidArgumentException::class, $call, $index)->getMessage(), $index);
        }
        $calls = ['startScheduledRoom', 'joinRoom', 'createInvitationLink', 'simulateMeeting', 'rescheduleRoom',
            'endRoom', 'roomStatus', 'activeRoom', 'analytics', 'exportAttendance', 'roomEvents', 'sendJoinEvent',
            'signJoinLink'];
        foreach ($calls as $name) {
            foreach ([[], ['room_id' => ''], ['room_id' => null], ['room_id' => 5]] as $room) {
                $problem = thrown(InvalidArgumentException::class, static fn () => $client->$name($room), $name);
                same('room_id must be a string that is not empty', $problem->getMessage(), $name);
            }
        }
        same([], $server->requests(), 'requests');
    },

    'the separator of php.ini does not change the query' => static function (): void {
        $server = new Server([['body' => '{"rooms":[]}']]);
        ini_set('arg_separator.output', '&amp;');
        try {
            iterator_to_array(Fixtures::client($server->url)->rooms(['state' => 'a b+c']));
        } finally {
            ini_restore('arg_separator.output');
        }
        same('/api/v4/rooms/list_rooms?state=a%20b%2Bc&limit=100', $server->requests()[0]['target'], 'a b+c');
    },

    'an idempotency key of fetch_past_rooms is a header, too' => static function (): void {
        $page = '{"status":true,"rooms":{"from":0,"limit":20,"order_by":"DESC","total_rooms":"0","rooms_list":[]}}';
        $server = new Server([['body' => $page]]);
        Fixtures::client($server->url)->pastRooms(['idempotency_key' => 'k']);
        $request = $server->requests()[0];
        same(['{}', 'k'], [$request['body'], $request['headers']['idempotency-key']], $request);
    },
];
