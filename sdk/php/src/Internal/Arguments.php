<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidArgumentException;

/**
 * The arguments of a call that are not the fields of its body.
 *
 * @internal
 */
final class Arguments
{
    /**
     * @param array<array-key, mixed> $values
     * @param list<string> $names all names that the call has
     *
     * @throws InvalidArgumentException if there is another name
     */
    public function __construct(private readonly array $values, array $names)
    {
        foreach (array_keys($values) as $name) {
            if (!in_array($name, $names, true)) {
                throw new InvalidArgumentException("this call has no argument $name");
            }
        }
    }

    /** Returns a string in UTF-8 that is not empty. */
    public function text(string $name): string
    {
        $value = $this->values[$name] ?? null;
        if (!is_string($value) || $value === '') {
            throw new InvalidArgumentException("$name must be a string that is not empty");
        }
        if (preg_match('//u', $value) !== 1) {
            throw new InvalidArgumentException("$name must be UTF-8");
        }
        return $value;
    }

    /** Returns a string as a segment of a path. */
    public function pathSegment(string $name): string
    {
        $value = $this->text($name);
        // HTTP clients would remove these segments from the path.
        if ($value === '.' || $value === '..') {
            throw new InvalidArgumentException("$name must not be $value");
        }
        return rawurlencode($value);
    }

    /** Returns a string, or null for an absent one. */
    public function optionalText(string $name): ?string
    {
        return isset($this->values[$name]) ? $this->text($name) : null;
    }

    /** Returns a string of at most 255 characters, or null for an absent or empty one. */
    public function shortText(string $name): ?string
    {
        $value = $this->values[$name] ?? '';
        if (!is_string($value) || preg_match('/\A.{0,255}\z/su', $value) !== 1) {
            throw new InvalidArgumentException("$name must be a string of at most 255 Unicode characters");
        }
        return $value === '' ? null : $value;
    }

    /** Returns an integer, or null for an absent one. */
    public function optionalInteger(string $name, int $least): ?int
    {
        $value = $this->values[$name] ?? null;
        if ($value !== null && (!is_int($value) || $value < $least)) {
            throw new InvalidArgumentException("$name must be an integer of at least $least");
        }
        return $value;
    }

    /** Returns an integer within bounds, or the default for an absent one. */
    public function integerBetween(string $name, int $least, int $most, ?int $default = null): int
    {
        $value = $this->values[$name] ?? $default;
        if (!is_int($value) || $value < $least || $value > $most) {
            throw new InvalidArgumentException("$name must be an integer between $least and $most");
        }
        return $value;
    }
}
