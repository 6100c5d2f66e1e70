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

    private const FLAGS = JSON_THROW_ON_ERROR
        | JSON_UNESCAPED_UNICODE
        | JSON_UNESCAPED_SLASHES
        | JSON_PRESERVE_ZERO_FRACTION;

    private function __construct()
    {
    }

    /**
     * Returns fields as a JSON object in UTF-8. A field that is null is left out, like an absent one.
     *
     * @param array<array-key, mixed> $fields
     */
    public static function encode(array $fields): string
    {
        try {
            return json_encode(self::object($fields), self::FLAGS);
        } catch (\JsonException $problem) {
            $reason = $problem->getMessage();
        }
        throw new InvalidArgumentException("the arguments cannot be written as JSON: $reason");
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
