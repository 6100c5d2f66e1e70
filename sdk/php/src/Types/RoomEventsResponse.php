<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** One page of the events of a room, the oldest first. */
final class RoomEventsResponse
{
    public function __construct(
        /**
         * The oldest first.
         *
         * @var list<Event>
         */
        public readonly array $events,
        /** The value of after for the next call. */
        public readonly int $next_after,
        /** Whether there are more events now. */
        public readonly bool $has_more,
        /** Identifies this request, from a response header. Quote it to support. */
        public readonly string $request_id = '',
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(array $data, string $request_id = ''): self
    {
        return self::read($data, '', $request_id);
    }

    /** @internal */
    public static function read(mixed $value, string $path, string $request_id = ''): self
    {
        $fields = new Fields($value, $path);

        return new self(
            events: $fields->required('events', Fields::listOf(EventFactory::read(...))),
            next_after: $fields->required('next_after', Fields::integer(...)),
            has_more: $fields->required('has_more', Fields::boolean(...)),
            request_id: $request_id,
        );
    }
}
