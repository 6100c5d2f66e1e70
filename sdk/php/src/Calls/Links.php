<?php

declare(strict_types=1);

namespace Parley\Calls;

use Parley\Exception\ParleyException;
use Parley\Internal\Arguments;
use Parley\Internal\JoinLink;
use Parley\Internal\Signer;

/**
 * Links that the client signs itself.
 *
 * @internal only Parley\Client uses this trait
 */
trait Links
{
    /**
     * Returns a link into a room that is signed with the project secret. It sends no request, and the server checks the
     * link when it is used. It needs project_secret.
     *
     * @param array{
     *     room_id: string, role?: 'host'|'cohost'|'guest', name?: string|null, user_id?: string|null,
     *     single_use?: bool, expires_in?: int
     * } $link
     *     - role: guest by default.
     *     - name: The display name that the page fills in, at most 255 characters.
     *     - user_id: The id of the person in your system, at most 255 characters. A second browser with a link of the
     *       same person takes over the seat.
     *     - single_use: Whether the link admits only the first browser that joins with it.
     *     - expires_in: Seconds that the link may wait for its first use, 1 to 86400, by default 3600. People who have
     *       joined by then may stay and come back.
     *
     * @throws ParleyException
     */
    public function signJoinLink(array $link): string
    {
        $transport = $this->api->transport;
        $transport->credentials->require(Signer::ProjectSecret);
        $arguments = new Arguments($link, ['room_id', 'role', 'name', 'user_id', 'single_use', 'expires_in']);
        $segment = $arguments->pathSegment('room_id');
        $age = $arguments->integerBetween('expires_in', 1, JoinLink::MAX_AGE, JoinLink::DEFAULT_AGE);
        $claims = JoinLink::claims($link, $transport->now(), $age);
        return "$transport->baseUrl/r/$segment#j=" . $transport->credentials->signJoinLink($claims);
    }
}
