<?php

declare(strict_types=1);

namespace Parley\Calls;

use Parley\Exception\InvalidArgumentException;
use Parley\Exception\ParleyException;
use Parley\Internal\Api;
use Parley\Internal\Arguments;
use Parley\Internal\Body;
use Parley\Internal\Request;
use Parley\Internal\Signer;
use Parley\Types\JoinEventReceived;
use Parley\Types\ProjectStatusUpdated;

/**
 * The status of the project, join events of other systems, and the descriptions of the API.
 *
 * @internal only Parley\Client uses this trait
 */
trait Projects
{
    /**
     * Activates or deactivates the project. An inactive project accepts no new rooms and no new joins; running rooms
     * continue. It needs project_id and project_secret, or project_id and api_key.
     *
     * @param array{status: 'active'|'inactive'} $change
     *
     * @throws ParleyException
     */
    public function updateProjectStatus(array $change): ProjectStatusUpdated
    {
        $status = (new Arguments($change, ['status']))->text('status');
        $credentials = $this->api->transport->credentials;
        $credentials->require(Signer::Project);
        $response = $this->api->transport->send(new Request(
            'PUT',
            '/api/v4/projects/update_project_status?project_id=' . rawurlencode($credentials->projectId),
            Signer::Project,
            Body::encode(['status' => $status]),
            repeatable: true,
        ));
        return Api::readResponse($response, ProjectStatusUpdated::read(...));
    }

    /**
     * Reports that a person joined a room in another system. The report is recorded in the attendance of the room; it
     * grants no access and takes no seat. It needs project_secret.
     *
     * @param array{room_id: string, name: string} $event the UUID of the room, and the name of the person, which has 1
     *     to 255 characters and is not blank
     *
     * @throws ParleyException a ConflictException for a room that is over
     */
    public function sendJoinEvent(array $event): JoinEventReceived
    {
        $arguments = new Arguments($event, ['room_id', 'name']);
        $body = ['room_id' => $arguments->text('room_id'), 'user_info' => ['name' => $arguments->text('name')]];
        $response = $this->api->transport->send(new Request(
            'POST',
            '/api/v4/webhook/get_room_events/' . $arguments->pathSegment('room_id'),
            Signer::ProjectSecret,
            Body::encode($body),
            repeatable: true,
            // The server takes the same event within a minute for the same join. The other half of the minute is for
            // the last attempt to arrive.
            retryWindow: 30.0,
        ));
        $received = Api::readResponse($response, JoinEventReceived::read(...));
        return $received->joined ? $received : throw $response->unexpected('joined is not true');
    }

    /**
     * Returns the OpenAPI description of a version: YAML of versions 3 and 4, JSON of version 5. It needs no
     * credentials.
     *
     * @param array{version: 3|4|5} $description
     *
     * @throws ParleyException
     */
    public function openapi(array $description): string
    {
        $target = match ((new Arguments($description, ['version']))->optionalInteger('version', 0)) {
            3 => '/api/v3/openapi.yaml',
            4 => '/api/v4/openapi.yaml',
            5 => '/api/v5/openapi.json',
            default => throw new InvalidArgumentException('version must be 3, 4 or 5'),
        };
        return $this->api->transport->send(
            new Request('GET', $target, Signer::Nobody, accept: '*/*', repeatable: true),
        )->text();
    }
}
