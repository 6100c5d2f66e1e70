<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidArgumentException;

/**
 * Bodies of requests. PHP has one type for lists and objects, and [] could be either of them.
 *
 * @internal
 */
final class Body
{
    private const OBJECTS = ['metadata', 'room_features', 'breakout_room_features', 'user_info'];

    private const LISTS = ['room_ids', 'people'];

    private const FLAGS = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    private function __construct()
    {
    }

    /**
     * Returns fields as a JSON object in UTF-8. A field that is null is left out, like an absent one.
     *
     * @param array<array-key, mixed> $fields
     *
     * @throws InvalidArgumentException if a value cannot be written as JSON; its text names the field
     */
    public static function encode(array $fields): string
    {
        $object = self::object($fields);
        $text = json_encode($object, self::FLAGS);
        return $text !== false ? $text : throw new InvalidArgumentException(self::problem('', $object));
    }

    /** Returns why a value cannot be written, with the name of the innermost value that cannot. */
    private static function problem(string $path, mixed $value): string
    {
        json_encode($value, self::FLAGS);
        $reason = json_last_error_msg();
        // Each member of an endless value has the same problem.
        $isEndless = in_array(json_last_error(), [JSON_ERROR_RECURSION, JSON_ERROR_DEPTH], true);
        if (is_string($value)) {
            return "$path must be UTF-8";
        }
        if ((is_array($value) || $value instanceof \stdClass) && ($path === '' || !$isEndless)) {
            foreach ((array) $value as $name => $member) {
                if (json_encode($member, self::FLAGS) === false) {
                    $isElement = is_array($value) && array_is_list($value);
                    $name = $isElement ? "{$path}[$name]" : ltrim("$path.$name", '.');
                    return self::problem($name, $member);
                }
            }
        }
        return ($path === '' ? 'the arguments' : $path) . " cannot be written as JSON: $reason";
    }

    /** @param array<array-key, mixed> $fields */
    private static function object(array $fields): object
    {
        $members = [];
        foreach ($fields as $name => $value) {
            if (is_array($value) && in_array($name, self::OBJECTS, true)) {
                $value = self::object($value);
            } elseif (is_array($value) && in_array($name, self::LISTS, true)) {
                $value = array_values($value); // array_filter, for instance, leaves gaps between the keys
            }
            if ($value !== null) {
                $members[$name] = $value;
            }
        }
        return (object) $members;
    }
}
