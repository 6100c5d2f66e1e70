<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** Makes the event of the class that its type has. */
final class EventFactory
{
    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if it is no event; the message names the path
     */
    public static function fromArray(array $data): Event
    {
        return self::read($data, '');
    }

    /** @internal */
    public static function read(mixed $value, string $path): Event
    {
        $type = (new Fields($value, $path))->required('type', Fields::string(...));

        return match ($type) {
            'room.scheduled' => RoomScheduledEvent::read($value, $path),
            'room.opened' => RoomOpenedEvent::read($value, $path),
            'room.started' => RoomStartedEvent::read($value, $path),
            'room.ended' => RoomEndedEvent::read($value, $path),
            'room.cancelled' => RoomCancelledEvent::read($value, $path),
            'room.expired' => RoomExpiredEvent::read($value, $path),
            'participant.joined' => ParticipantJoinedEvent::read($value, $path),
            'participant.left' => ParticipantLeftEvent::read($value, $path),
            'participant.join_failed' => ParticipantJoinFailedEvent::read($value, $path),
            'participant.reported' => ParticipantReportedEvent::read($value, $path),
            'feedback.given' => FeedbackGivenEvent::read($value, $path),
            'project.status_changed' => ProjectStatusChangedEvent::read($value, $path),
            'key.rotated' => KeyRotatedEvent::read($value, $path),
            'key.overlap_ending' => KeyOverlapEndingEvent::read($value, $path),
            'webhook.test' => WebhookTestEvent::read($value, $path),
            default => UnknownEvent::read($value, $path),
        };
    }
}
