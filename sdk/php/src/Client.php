<?php

declare(strict_types=1);

namespace Parley;

use Parley\Exception\InvalidArgumentException;
use Parley\Internal\Api;
use Parley\Internal\Credentials;
use Parley\Internal\DefaultClient;
use Parley\Internal\Sender;
use Parley\Internal\Settings;
use Parley\Internal\Transport;
use Parley\Types\Requests;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Calls one server for one project.
 *
 * A call without its credential throws a MissingCredentialException and sends nothing. All exceptions extend
 * Parley\Exception\ParleyException. After a lost response, 429, 502, 503 and 504 a call is repeated if this is safe,
 * which the documentation of the calls explains.
 *
 * Printing a client shows no secret, and it cannot be serialized.
 *
 * @phpstan-import-type CreateQuickRoomRequest from Requests
 * @phpstan-import-type CreateScheduledRoomRequest from Requests
 * @phpstan-import-type CreateScheduledRoomV3Request from Requests
 * @phpstan-import-type StartScheduledRoomRequest from Requests
 * @phpstan-import-type JoinRoomRequest from Requests
 * @phpstan-import-type InvitationLinkRequest from Requests
 * @phpstan-import-type MeetingSimulation from Requests
 * @phpstan-import-type RescheduleRoomRequest from Requests
 * @phpstan-import-type EndRoomRequest from Requests
 * @phpstan-import-type PastRoomsRequest from Requests
 */
class Client implements \JsonSerializable, \Stringable
{
    use Calls\Creations;
    use Calls\Projects;
    use Calls\Meetings;
    use Calls\Links;
    use Calls\Attendance;
    use Calls\Gateway;

    /** The version of this package. */
    public const VERSION = '0.1.4';

    private readonly Api $api;

    /**
     * @param string $baseUrl scheme and host of the server, such as https://meet.example.org. It has no path, because
     *     the path is signed as the server sees it. Use http only on trusted networks.
     * @param string $projectId the UUID of the project. Creations and the status of the project need it.
     * @param string $projectSecret signs creations, the status of the project, join events and join links
     * @param string $apiKey belongs to the Gateway secret. It also signs creations and the status of the project if
     *     there is no project secret.
     * @param string $gatewaySecret signs the calls that run a meeting, and version 5
     * @param ClientInterface|null $httpClient a PSR-18 client, which must not follow redirects, must not repeat
     *     requests by itself, and should have a timeout; null for one of Guzzle 7
     * @param RequestFactoryInterface|null $requestFactory a PSR-17 factory; null for the HTTP client itself if it is
     *     one, otherwise for the one of guzzlehttp/psr7
     * @param StreamFactoryInterface|null $streamFactory as the request factory
     * @param float $timeout seconds for each attempt. An HTTP client that you pass has its own timeout.
     * @param int $maxAttempts the highest number of attempts of a call, at least 1. An attempt after a correction of
     *     the clock is not counted.
     * @param int $version of the routes that versions 3 and 4 have: 3 or 4
     * @param string|null $userAgent the header User-Agent, in printable ASCII; null for parley-php and the version
     * @param float|null $deadline a call makes no further attempt later than this many seconds after its first one;
     *     null for no limit
     *
     * @throws InvalidArgumentException
     */
    public function __construct(
        #[\SensitiveParameter] string $baseUrl,
        string $projectId = '',
        #[\SensitiveParameter] string $projectSecret = '',
        #[\SensitiveParameter] string $apiKey = '',
        #[\SensitiveParameter] string $gatewaySecret = '',
        ?ClientInterface $httpClient = null,
        ?RequestFactoryInterface $requestFactory = null,
        ?StreamFactoryInterface $streamFactory = null,
        float $timeout = 30.0,
        int $maxAttempts = 3,
        int $version = 4,
        ?string $userAgent = null,
        ?float $deadline = null,
    ) {
        $httpClient ??= DefaultClient::create(Settings::seconds('timeout', $timeout));
        if ($httpClient instanceof RequestFactoryInterface) {
            $requestFactory ??= $httpClient;
        }
        if ($httpClient instanceof StreamFactoryInterface) {
            $streamFactory ??= $httpClient;
        }
        $transport = new Transport(
            Settings::baseUrl($baseUrl),
            new Credentials($projectId, $projectSecret, $apiKey, $gatewaySecret),
            new Sender($httpClient),
            $requestFactory ?? DefaultClient::factory('requestFactory'),
            $streamFactory ?? DefaultClient::factory('streamFactory'),
            Settings::userAgent($userAgent ?? 'parley-php/' . self::VERSION),
            Settings::maxAttempts($maxAttempts),
            $deadline === null ? INF : Settings::seconds('deadline', $deadline),
        );
        $this->api = new Api($transport, Settings::version($version));
    }

    /**
     * Returns a client with the settings of the environment variables PARLEY_URL, PARLEY_PROJECT_ID,
     * PARLEY_PROJECT_SECRET, PARLEY_API_KEY and PARLEY_GATEWAY_SECRET. Only PARLEY_URL must be set.
     *
     * @param array<string, mixed> $options further arguments of the constructor by their names, such as
     *     ['timeout' => 10]
     *
     * @throws InvalidArgumentException
     */
    public static function fromEnvironment(array $options = []): static
    {
        $variables = ['baseUrl' => 'PARLEY_URL', 'projectId' => 'PARLEY_PROJECT_ID',
            'projectSecret' => 'PARLEY_PROJECT_SECRET', 'apiKey' => 'PARLEY_API_KEY',
            'gatewaySecret' => 'PARLEY_GATEWAY_SECRET'];
        $values = array_map(static fn (string $name): string => (string) getenv($name), $variables);
        if ($values['baseUrl'] === '') {
            throw new InvalidArgumentException(
                'set PARLEY_URL to the address of the server, such as https://meet.example.org'
            );
        }
        return new static(...$values, ...$options);
    }

    /** Returns the server and the project. */
    public function __toString(): string
    {
        $transport = $this->api->transport;
        return "Parley client of $transport->baseUrl, project {$transport->credentials->projectId}";
    }

    /** @return array{base_url: string, project_id: string, version: int, user_agent: string} */
    public function __debugInfo(): array
    {
        return $this->jsonSerialize();
    }

    /** @return array{base_url: string, project_id: string, version: int, user_agent: string} */
    public function jsonSerialize(): array
    {
        $transport = $this->api->transport;
        return [
            'base_url' => $transport->baseUrl,
            'project_id' => $transport->credentials->projectId,
            'version' => $this->api->version,
            'user_agent' => $transport->userAgent,
        ];
    }

    /** @return never */
    public function __serialize(): array
    {
        throw new \LogicException('A client of Parley cannot be serialized, because it contains secrets');
    }
}
