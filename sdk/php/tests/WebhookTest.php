<?php

declare(strict_types=1);

use Parley\Exception\InvalidArgumentException;
use Parley\Exception\InvalidSignatureException;
use Parley\Exception\UnexpectedResponseException;
use Parley\Tests\Fixtures;
use Parley\Types\RoomStartedEvent;
use Parley\Types\UnknownEvent;
use Parley\Webhook;

use function Parley\Tests\same;
use function Parley\Tests\thrown;

return [
    'headers in every form' => static function (): void {
        $valid = Fixtures::webhook(Fixtures::EVENT, now: Fixtures::NOW);
        $forms = [
            $valid,
            array_change_key_case($valid, CASE_UPPER),
            array_map(static fn (string $value): array => [$value], $valid),
            $valid + ['content-type' => null, 'x' => [null], 5 => 'y'],
        ];
        foreach ($forms as $headers) {
            $event = Webhook::verify(Fixtures::PROJECT_SECRET, $headers, Fixtures::EVENT, now: Fixtures::NOW);
            same(RoomStartedEvent::class, $event::class, $headers);
            same([3, 'r', 'video'], [$event->sequence, $event->data->room_id, $event->data->room_type], $headers);
            same('2026-01-01T00:00:00.250+00:00', $event->timestamp->format(DATE_RFC3339_EXTENDED), $headers);
        }
    },

    'webhooks that are refused' => static function (): void {
        $valid = Fixtures::webhook(Fixtures::EVENT, now: Fixtures::NOW);
        $stale = Fixtures::webhook(Fixtures::EVENT, now: Fixtures::NOW - 301);
        $early = Fixtures::webhook(Fixtures::EVENT, now: Fixtures::NOW + 301);
        $other = Fixtures::webhook(Fixtures::EVENT, Fixtures::OTHER_SECRET, Fixtures::NOW);
        $cases = [
            [[], 'missing header webhook-id'],
            [['webhook-timestamp' => ''] + $valid, 'missing header webhook-timestamp'],
            [['webhook-signature' => []] + $valid, 'missing header webhook-signature'],
            [['webhook-id' => 'a.b'] + $valid, 'the header webhook-id is malformed'],
            [['webhook-timestamp' => 'soon'] + $valid, 'the header webhook-timestamp is malformed'],
            [['webhook-timestamp' => [Fixtures::NOW . '', Fixtures::NOW . '']] + $valid,
                'the header webhook-timestamp is malformed'],
            [$stale, 'the timestamp is too old'],
            [$early, 'the timestamp is too new'],
            [$other, 'no signature matches'],
            [['webhook-id' => 'e2'] + $valid, 'no signature matches'],
            // An attacker does not learn the clock without a valid signature.
            [['webhook-id' => 'e2'] + $stale, 'no signature matches'],
        ];
        foreach ($cases as [$headers, $want]) {
            $call = static fn () => Webhook::verify(
                Fixtures::PROJECT_SECRET,
                $headers,
                Fixtures::EVENT,
                now: Fixtures::NOW,
            );
            $problem = thrown(InvalidSignatureException::class, $call, $headers);
            same([$want, 'invalid_signature'], [$problem->getMessage(), $problem->kind], $headers);
        }
        Webhook::verify(Fixtures::PROJECT_SECRET, $stale, Fixtures::EVENT, 600, Fixtures::NOW);
        $both = [Fixtures::PROJECT_SECRET, Fixtures::OTHER_SECRET];
        Webhook::verify($both, $other, Fixtures::EVENT, now: Fixtures::NOW);
    },

    'types that this version does not know' => static function (): void {
        $body = '{"type":"room.painted","id":"e9","data":{"color":"red"},"mood":"good"}';
        $event = Webhook::verify(Fixtures::PROJECT_SECRET, Fixtures::webhook($body), $body);
        same(UnknownEvent::class, $event::class, $body);
        same(['room.painted', ['color' => 'red']], [$event->type, $event->data], $body);
    },

    'signed bodies that are not events' => static function (): void {
        $cases = [
            '' => 'it is not JSON',
            '{' => 'it is not JSON',
            '5' => 'type: expected a string',
            '{"type":"room.started"}' => 'id: expected a string',
        ];
        foreach ($cases as $body => $want) {
            $body = (string) $body;
            $call = static fn () => Webhook::verify(Fixtures::PROJECT_SECRET, Fixtures::webhook($body), $body);
            $problem = thrown(UnexpectedResponseException::class, $call, $body);
            same("the body of the webhook is not as documented: $want", $problem->getMessage(), $body);
        }
    },

    'a secret that is not a project secret' => static function (): void {
        $call = static fn () => Webhook::verify('secret', Fixtures::webhook(Fixtures::EVENT), Fixtures::EVENT);
        thrown(InvalidArgumentException::class, $call, 'secret');
    },
];
