<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * Secrets that are in no property of an object. __debugInfo would hide a property from var_dump and print_r, but not
 * from var_export, casts to an array and the dumpers of frameworks.
 *
 * @internal
 */
final class Secrets
{
    /** @var \WeakMap<self, array<array-key, string>>|null */
    private static ?\WeakMap $values = null;

    /** @param array<array-key, string> $values */
    public function __construct(#[\SensitiveParameter] array $values)
    {
        self::$values ??= new \WeakMap();
        self::$values[$this] = $values;
    }

    /** @return array<array-key, string> */
    public function all(): array
    {
        return self::$values[$this] ?? [];
    }

    /** Returns a text of a server without the secrets that it repeats. */
    public function redact(string $text): string
    {
        $secrets = array_filter($this->all(), static fn (string $secret): bool => $secret !== '');
        return strtr($text, array_fill_keys($secrets, '[redacted]'));
    }

    /** @return never */
    public function __serialize(): array
    {
        throw new \LogicException('An object with secrets of Parley cannot be serialized');
    }

    private function __clone()
    {
    }
}
