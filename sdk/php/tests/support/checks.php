<?php

declare(strict_types=1);

namespace Parley\Tests;

use Throwable;

/** The failures of the test that runs. */
final class Failures
{
    /** @var list<string> */
    public static array $all = [];
}

/**
 * Runs a test.
 *
 * @return list<string> its failures
 */
function failures(callable $test): array
{
    Failures::$all = [];
    try {
        $test();
    } catch (Throwable $problem) {
        Failures::$all[] = (string) $problem;
    }
    return Failures::$all;
}

/** Checks that two values are identical. The input belongs to the values. */
function same(mixed $want, mixed $got, mixed $input): void
{
    if ($got !== $want) {
        Failures::$all[] = sprintf("input %s\ngot   %s\nwant  %s", show($input), show($got), show($want));
    }
}

/** Checks that a text contains another one. */
function contains(string $want, string $got, mixed $input): void
{
    if (!str_contains($got, $want)) {
        Failures::$all[] = sprintf("input %s\ngot   %s\nwant  a text with %s", show($input), show($got), show($want));
    }
}

/** Checks that a number is within bounds. */
function between(float $least, float $most, float $got, mixed $input): void
{
    if ($got < $least || $got > $most) {
        Failures::$all[] = sprintf("input %s\ngot   %s\nwant  %s to %s", show($input), $got, $least, $most);
    }
}

/**
 * Returns the exception that a call throws.
 *
 * @template T of Throwable
 *
 * @param class-string<T> $class
 *
 * @return T
 */
function thrown(string $class, callable $call, mixed $input): Throwable
{
    try {
        $result = $call();
    } catch (Throwable $problem) {
        if ($problem instanceof $class) {
            return $problem;
        }
        throw $problem;
    }
    throw new \LogicException(sprintf("input %s\ngot   %s\nwant  %s", show($input), show($result), $class));
}

function show(mixed $value): string
{
    $flags = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PARTIAL_OUTPUT_ON_ERROR;
    $text = is_string($value) ? $value : (string) json_encode($value, $flags);
    return strlen($text) > 2000 ? substr($text, 0, 2000) . '…' : $text;
}
