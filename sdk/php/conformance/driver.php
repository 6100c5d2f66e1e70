<?php

/**
 * Makes calls with the installed package for the tests of all SDKs: reads a line of JSON for each call from standard
 * input and writes a line with the outcome.
 *
 *     php driver.php VENDOR_AUTOLOAD
 */

declare(strict_types=1);

use Parley\Client;
use Parley\Exception\ParleyException;
use Parley\Signature;
use Parley\Types\ActiveRooms;
use Parley\Webhook;

require $argv[1];

const FLAGS = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

/** Members that are objects on the wire, also if they are empty. */
const OBJECTS = ['participant_durations', 'data'];

/** @param array<string, mixed> $question */
function client(array $question): Client
{
    $known = $question['credentials'];
    $options = $question['options'] ?? [];
    return new Client(
        baseUrl: $question['base_url'] ?? 'https://meet.example.org',
        projectId: $known['project_id'] ?? '',
        projectSecret: $known['project_secret'] ?? '',
        apiKey: $known['api_key'] ?? '',
        gatewaySecret: $known['gateway_secret'] ?? '',
        maxAttempts: $options['max_attempts'] ?? 3,
        version: $options['version'] ?? 4,
    );
}

/**
 * Returns a value with the names of the wire.
 */
function wire(mixed $value, string $name = ''): mixed
{
    if ($value instanceof DateTimeInterface) {
        return $value->format('Y-m-d\TH:i:s.uP');
    }
    if (is_object($value)) {
        return (object) members(get_object_vars($value));
    }
    if (is_array($value)) {
        return in_array($name, OBJECTS, true) ? (object) members($value) : members($value);
    }
    return $value;
}

/**
 * @param array<array-key, mixed> $values
 *
 * @return array<array-key, mixed>
 */
function members(array $values): array
{
    foreach ($values as $name => $value) {
        $values[$name] = wire($value, (string) $name);
    }
    return $values;
}

/** @param array<string, mixed> $arguments */
function call(Client $client, string $operation, array $arguments): mixed
{
    $method = lcfirst(str_replace('_', '', ucwords($operation, '_')));
    $result = $client->$method($arguments);
    return match (true) {
        is_string($result) => ['text' => $result],
        $result instanceof Generator => ['items' => wire(iterator_to_array($result, false))],
        $result instanceof ActiveRooms => ['items' => wire($result->rooms)],
        default => wire($result),
    };
}

/**
 * @param array<string, mixed> $case of vectors.json
 *
 * @return array{signature: string, valid: bool}
 */
function sign(string $profile, array $case): array
{
    $body = isset($case['body_base64']) ? base64_decode($case['body_base64']) : $case['body'];
    $signers = $case['signed_with'] ?? $case['secrets'];
    $secret = $case['secrets'][0];
    if ($profile === 'legacy-body') {
        return [
            'signature' => Signature::body($signers[0], $body),
            'valid' => Signature::verifyBody($secret, $body, $case['signature']),
        ];
    }
    if ($profile === Signature::PROFILE) {
        $parts = [$case['method'], $case['target'], $case['timestamp'], $case['idempotency_key'], $body];
        return [
            'signature' => Signature::gateway($signers[0], ...$parts),
            'valid' => Signature::verifyGateway($secret, ...[...$parts, $case['signature']]),
        ];
    }
    try {
        $signature = Signature::webhook($signers, $case['id'], $case['timestamp'], $body);
    } catch (ParleyException) {
        $signature = ''; // a case can be one that cannot be signed
    }
    $sent = [$case['id'], $case['timestamp'], $body, $case['signature']];
    return ['signature' => $signature, 'valid' => Signature::verifyWebhook($case['secrets'], ...$sent)];
}

/** Returns everything that programs usually print of a client, its credentials and an exception. */
function printed(Client $client, string $secret): string
{
    $things = [$client, [$client], new Parley\Laravel\VerifyWebhook($secret)];
    try {
        $client->roomEvents(['room_id' => '..']);
    } catch (ParleyException $problem) {
        $things[] = $problem;
    }
    ob_start();
    foreach ($things as $thing) {
        var_dump($thing, is_array($thing) ? $thing : (array) $thing);
        print_r($thing);
        @var_export($thing);
        echo json_encode($thing), "\n";
    }
    echo $client, "\n", $problem, "\n";
    try {
        echo serialize($client);
    } catch (Throwable $refusal) {
        echo $refusal;
    }
    return (string) ob_get_clean();
}

/**
 * @param array<string, mixed> $question
 *
 * @return array<string, mixed>
 */
function outcome(array $question): array
{
    try {
        return match ($question['do']) {
            'call' => ['result' => call(client($question), $question['operation'], $question['arguments'])],
            'sign' => sign($question['profile'], $question['case']),
            'webhook' => ['event' => wire(Webhook::verify(
                $question['secrets'],
                $question['headers'],
                $question['body'],
                now: $question['now'],
            ))],
            'print' => ['text' => printed(client($question), $question['credentials']['project_secret'])],
        };
    } catch (ParleyException $problem) {
        return ['error' => $problem->jsonSerialize()];
    }
}

while (($line = fgets(STDIN)) !== false) {
    $question = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    fwrite(STDOUT, json_encode(outcome($question), FLAGS) . "\n");
    fflush(STDOUT);
}
