<?php

declare(strict_types=1);

use Parley\Exception\InvalidArgumentException;
use Parley\Signature;
use Parley\Tests\Fixtures;

use function Parley\Tests\same;
use function Parley\Tests\thrown;

return [
    'timestamps of the published table' => static function (): void {
        $file = __DIR__ . '/../../testdata/vectors.json';
        $table = json_decode((string) file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);
        $cases = $table['timestamps']['cases'];
        same(true, count($cases) >= 20, count($cases));
        foreach ($cases as $case) {
            same(
                $case['result'],
                Signature::freshness($case['timestamp'], $case['now'], $case['bound_seconds']),
                $case,
            );
        }
    },

    'an empty key verifies nothing' => static function (): void {
        $signature = Signature::gateway('', 'GET', '/', '1');
        same(false, Signature::verifyGateway('', 'GET', '/', '1', '', '', $signature), $signature);
        $signature = Signature::body('', '{}');
        same(false, Signature::verifyBody('', '{}', $signature), $signature);
    },

    'the method is signed in upper case' => static function (): void {
        same("SVC-HMAC-V5-1\nGET\n/a?b=1\n5\n\n", Signature::gatewayText('get', '/a?b=1', '5'), 'get');
    },

    'malformed secrets of webhooks' => static function (): void {
        $encoded = substr(Fixtures::PROJECT_SECRET, 6);
        $malformed = [
            '',
            'whsec_',
            $encoded,
            Fixtures::API_KEY,
            Fixtures::PROJECT_SECRET . "\n",
            'whsec_' . substr($encoded, 0, 10) . "\n" . substr($encoded, 10),
            'whsec_' . rtrim($encoded, '='),
            'whsec_' . base64_encode(str_repeat('x', 23)),
            'whsec_' . base64_encode(str_repeat('x', 65)),
            'whsec_' . strtr(base64_encode(str_repeat("\xff", 32)), '+/', '-_'),
        ];
        foreach ($malformed as $secret) {
            foreach ([[$secret], [Fixtures::PROJECT_SECRET, $secret]] as $secrets) {
                $call = static fn () => Signature::verifyWebhook($secrets, 'e1', '5', '', 'v1,');
                $problem = thrown(InvalidArgumentException::class, $call, $secrets);
                $index = count($secrets) - 1;
                same(
                    "secrets[$index] must be a project secret: whsec_ and the standard Base64 of 24 to 64 bytes",
                    $problem->getMessage(),
                    $secrets,
                );
            }
        }
        thrown(InvalidArgumentException::class, static fn () => Signature::webhook([], 'e1', '5', ''), []);
    },

    'webhooks that cannot be signed' => static function (): void {
        foreach (['', 'a.b', 'a b', "a\nb", "a\r"] as $id) {
            $call = static fn () => Signature::webhook([Fixtures::PROJECT_SECRET], $id, '5', '');
            thrown(InvalidArgumentException::class, $call, $id);
        }
        foreach (['', '-1', '5.0', '1234567890123456789', "5\n"] as $timestamp) {
            $call = static fn () => Signature::webhook([Fixtures::PROJECT_SECRET], 'e1', $timestamp, '');
            thrown(InvalidArgumentException::class, $call, $timestamp);
        }
    },
];
