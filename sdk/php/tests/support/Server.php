<?php

declare(strict_types=1);

namespace Parley\Tests;

/**
 * An HTTP server in another process, which sends scripted responses and keeps the requests.
 */
final class Server
{
    public readonly string $url;

    /** @var resource */
    private $process;

    private readonly string $log;

    /**
     * @param list<array{
     *     status?: int, headers?: array<string, string>, body?: string, drop?: bool, cut?: bool, endless?: bool,
     *     delay?: float, date?: int
     * }> $responses in their order. drop closes the connection instead, cut closes it within the body, endless
     *     repeats the body, delay is in seconds, and date is added to the clock, in seconds
     */
    public function __construct(array $responses)
    {
        $this->log = (string) tempnam(sys_get_temp_dir(), 'parley');
        $command = [PHP_BINARY, '-n', '-d', 'display_errors=stderr', __DIR__ . '/serve.php', $this->log];
        $process = proc_open($command, [['pipe', 'r'], ['pipe', 'w'], STDERR], $pipes);
        if ($process === false) {
            throw new \RuntimeException('the server does not start');
        }
        $this->process = $process;
        fwrite($pipes[0], json_encode($responses, JSON_THROW_ON_ERROR));
        fclose($pipes[0]);
        $this->url = 'http://127.0.0.1:' . trim((string) fgets($pipes[1]));
    }

    public function __destruct()
    {
        proc_terminate($this->process, 9);
        proc_close($this->process);
        unlink($this->log);
    }

    /**
     * Returns the requests so far.
     *
     * @return list<array{method: string, target: string, headers: array<string, string>, body: string, at: float}>
     */
    public function requests(): array
    {
        $lines = file($this->log, FILE_IGNORE_NEW_LINES) ?: [];
        return array_map(static fn (string $line): array => json_decode($line, true), $lines);
    }
}
