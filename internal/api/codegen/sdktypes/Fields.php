declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/**
 * The fields of a JSON object, and the readers of their types. An exception names the path of
 * the value that has another type. Unknown fields are ignored.
 *
 * A reader is a callable(mixed $value, string $path) that returns the value as its type.
 *
 * @internal
 */
final class Fields
{
    /** @var array<array-key, mixed> */
    private readonly array $members;

    private readonly string $prefix;

    public function __construct(mixed $value, string $path)
    {
        $this->members = self::members($value, $path);
        $this->prefix = $path === '' ? '' : $path . '.';
    }

    /**
     * @template T
     * @param callable(mixed, string): T $reader
     * @return T
     */
    public function required(string $name, callable $reader): mixed
    {
        return $reader($this->members[$name] ?? null, $this->prefix . $name);
    }

    /**
     * @template T
     * @param callable(mixed, string): T $reader
     * @return T|null
     */
    public function optional(string $name, callable $reader): mixed
    {
        return isset($this->members[$name]) ? $reader($this->members[$name], $this->prefix . $name) : null;
    }

    public static function string(mixed $value, string $path): string
    {
        return is_string($value) ? $value : throw new UnexpectedValueException($path . ': expected a string');
    }

    public static function integer(mixed $value, string $path): int
    {
        return is_int($value) ? $value : throw new UnexpectedValueException($path . ': expected an integer');
    }

    public static function number(mixed $value, string $path): float
    {
        if (!is_int($value) && !is_float($value)) {
            throw new UnexpectedValueException($path . ': expected a number');
        }
        return (float) $value;
    }

    public static function boolean(mixed $value, string $path): bool
    {
        return is_bool($value) ? $value : throw new UnexpectedValueException($path . ': expected a boolean');
    }

    public static function time(mixed $value, string $path): DateTimeImmutable
    {
        $format = '/\A(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)\z/i';
        if (is_string($value) && preg_match($format, $value, $part) === 1) {
            [, $day, $clock, $fraction, $offset] = $part;
            $text = $day . ' ' . $clock . '.' . str_pad($fraction, 6, '0') . strtoupper($offset);
            $time = DateTimeImmutable::createFromFormat('Y-m-d H:i:s.uP', $text);
            // PHP moves a day such as a 30th of February to the next month.
            if ($time !== false && $time->format('Y-m-d H:i:s') === $day . ' ' . $clock) {
                return $time;
            }
        }
        throw new UnexpectedValueException($path . ': expected a time in RFC 3339 format');
    }

    /**
     * Reads an object whose members are not described.
     *
     * @return array<string, mixed>
     */
    public static function object(mixed $value, string $path): array
    {
        $members = [];
        foreach (self::map($value, $path) as $name => $member) {
            $members[(string) $name] = $member;
        }
        return $members;
    }

    /**
     * @template T
     * @param callable(mixed, string): T $reader
     * @return callable(mixed, string): list<T>
     */
    public static function listOf(callable $reader): callable
    {
        return static function (mixed $value, string $path) use ($reader): array {
            if (!is_array($value) || !array_is_list($value)) {
                throw new UnexpectedValueException($path . ': expected an array');
            }
            $items = [];
            foreach ($value as $index => $item) {
                $items[] = $reader($item, $path . '[' . $index . ']');
            }
            return $items;
        };
    }

    /**
     * @template T
     * @param callable(mixed, string): T $reader
     * @return callable(mixed, string): array<array-key, T>
     */
    public static function mapOf(callable $reader): callable
    {
        return static function (mixed $value, string $path) use ($reader): array {
            $members = [];
            foreach (self::map($value, $path) as $name => $member) {
                $members[$name] = $reader($member, $path . '.' . $name);
            }
            return $members;
        };
    }

    /**
     * An empty list may be an empty object, because json_decode returns the same array for both.
     *
     * @return array<array-key, mixed>
     */
    private static function members(mixed $value, string $path): array
    {
        if (!is_array($value) || ($value !== [] && array_is_list($value))) {
            throw new UnexpectedValueException(($path === '' ? 'the JSON value' : $path) . ': expected an object');
        }
        return $value;
    }

    /**
     * The names are not known here. If they are "0", "1" and so on, json_decode returns a list.
     *
     * @return array<array-key, mixed>
     */
    private static function map(mixed $value, string $path): array
    {
        return is_array($value) ? $value : throw new UnexpectedValueException($path . ': expected an object');
    }
}
