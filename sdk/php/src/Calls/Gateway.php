<?php

declare(strict_types=1);

namespace Parley\Calls;

use Generator;
use Parley\Exception\ParleyException;
use Parley\Internal\Arguments;
use Parley\Types\Keys;
use Parley\Types\Limits;
use Parley\Types\LoggedRequest;
use Parley\Types\RequestList;
use Parley\Types\Usage;

/**
 * Version 5, which only reads. The calls need api_key and gateway_secret.
 *
 * @internal only Parley\Client uses this trait
 */
trait Gateway
{
    /**
     * Returns the API keys of the project. They are masked.
     *
     * @throws ParleyException
     */
    public function keys(): Keys
    {
        return $this->api->data('keys', [], Keys::read(...))[0];
    }

    /**
     * Returns the usage of the organization, or of the test project, in the current calendar month (UTC).
     *
     * @throws ParleyException
     */
    public function usage(): Usage
    {
        return $this->api->data('usage', [], Usage::read(...))[0];
    }

    /**
     * Returns the entitlements of the organization. If the plan is unknown, the list is empty, which does not mean
     * that there are no limits.
     *
     * @throws ParleyException
     */
    public function limits(): Limits
    {
        return $this->api->data('limits', [], Limits::read(...))[0];
    }

    /**
     * Returns the version 5 calls of the last seven days, the newest first. A refused call that named a key of the
     * project has the true cause in auth_result.
     *
     * @param array{limit?: int} $page the size of a page, 50 by default; a number above 100 means 100
     *
     * @return Generator<int, LoggedRequest> it reads pages on demand
     *
     * @throws ParleyException
     */
    public function requests(array $page = []): Generator
    {
        $limit = (new Arguments($page, ['limit']))->optionalInteger('limit', 1);
        $this->api->requireGateway();
        return $this->readRequests($limit);
    }

    /** @return Generator<int, LoggedRequest> */
    private function readRequests(?int $limit): Generator
    {
        $cursor = null;
        do {
            $query = ['limit' => $limit, 'cursor' => $cursor];
            [$page, $response] = $this->api->data('requests', $query, RequestList::read(...));
            foreach ($page->items as $item) {
                yield $item;
            }
            if ($page->next_cursor !== null && $page->next_cursor === $cursor) {
                throw $response->unexpected('next_cursor is the cursor of the same page');
            }
            $cursor = $page->next_cursor ?? '';
        } while ($cursor !== '');
    }
}
