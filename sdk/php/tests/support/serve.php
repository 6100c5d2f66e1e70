<?php

/**
 * The process of Parley\Tests\Server. It reads the responses from standard input, writes its port to standard output,
 * and the requests to a file.
 */

declare(strict_types=1);

$script = json_decode((string) stream_get_contents(STDIN), true, flags: JSON_THROW_ON_ERROR);
$listener = stream_socket_server('tcp://127.0.0.1:0');
fwrite(STDOUT, substr((string) strrchr((string) stream_socket_get_name($listener, false), ':'), 1) . "\n");

/** @return array{method: string, target: string, headers: array<string, string>, body: string, at: float}|null */
function parse(string $received): ?array
{
    [$head, $body] = explode("\r\n\r\n", $received, 2) + [1 => null];
    $lines = explode("\r\n", $head);
    [$method, $target] = explode(' ', array_shift($lines)) + ['', ''];
    $headers = [];
    foreach ($lines as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $headers[strtolower($name)] = trim($value);
    }
    if ($body === null || strlen($body) < (int) ($headers['content-length'] ?? 0)) {
        return null; // more will arrive
    }
    return compact('method', 'target', 'headers', 'body') + ['at' => microtime(true)];
}

/**
 * @param resource $connection
 * @param array<string, mixed> $response
 */
function respond($connection, array $response, int $number): bool
{
    usleep((int) (($response['delay'] ?? 0) * 1e6));
    if ($response['drop'] ?? false) {
        return false;
    }
    $body = $response['body'] ?? '';
    $length = strlen($body) + (($response['cut'] ?? false) ? 100 : 0);
    $headers = ($response['headers'] ?? []) + [
        'Date' => gmdate('D, d M Y H:i:s', time() + ($response['date'] ?? 0)) . ' GMT',
        'Content-Type' => 'application/json',
        'X-Request-ID' => "req_$number",
        'Content-Length' => ($response['endless'] ?? false) ? 1 << 40 : $length,
    ];
    $head = 'HTTP/1.1 ' . ($response['status'] ?? 200) . " Whatever\r\n";
    foreach ($headers as $name => $value) {
        $head .= $value === '' ? '' : "$name: $value\r\n";
    }
    $isOpen = (bool) @fwrite($connection, "$head\r\n$body");
    while (($response['endless'] ?? false) && $isOpen) {
        $isOpen = (bool) @fwrite($connection, str_repeat($body, 1000));
    }
    return $isOpen && !($response['cut'] ?? false);
}

$connections = $received = [];
$number = 0;
while (true) {
    $readable = [...$connections, $listener];
    $writable = $exceptional = null;
    stream_select($readable, $writable, $exceptional, null);
    foreach ($readable as $stream) {
        if ($stream === $listener) {
            $connection = stream_socket_accept($listener);
            $connections[(int) $connection] = $connection;
            $received[(int) $connection] = '';
            continue;
        }
        $id = (int) $stream;
        $block = (string) fread($stream, 65536);
        $received[$id] .= $block;
        $request = parse($received[$id]);
        $isOpen = $block !== '';
        if ($request !== null) {
            file_put_contents($argv[1], json_encode($request) . "\n", FILE_APPEND);
            $received[$id] = '';
            $isOpen = respond($stream, $script[$number] ?? ['status' => 418], ++$number);
        }
        if (!$isOpen) {
            fclose($stream);
            unset($connections[$id], $received[$id]);
        }
    }
}
