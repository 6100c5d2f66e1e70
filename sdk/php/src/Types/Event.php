<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

/**
 * An event, which a webhook delivers or the list of a room's events contains. Its class tells its
 * type; an event of a type that this version of the SDK does not know is an UnknownEvent.
 *
 * @property-read string $type
 * @property-read string $id The id of the event. It is the same in every delivery and list.
 * @property-read string $project_id
 * @property-read \DateTimeImmutable|null $timestamp Null only in an UnknownEvent without one.
 * @property-read int|null $sequence The number of the event in its room or project. Null only in an UnknownEvent
 *     without one.
 */
interface Event
{
}
