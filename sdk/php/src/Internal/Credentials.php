<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidArgumentException;
use Parley\Exception\MissingCredentialException;
use Parley\Signature;

/**
 * The credentials of one project. An empty string means that a credential is absent.
 *
 * @internal
 */
final class Credentials
{
    private const PREFIXES = [
        'pk_' => ['api_key', 'an API key'],
        'gs_' => ['gateway_secret', 'a Gateway secret'],
        'whsec_' => ['project_secret', 'a project secret'],
    ];

    private readonly Secrets $secrets;

    public function __construct(
        public readonly string $projectId,
        #[\SensitiveParameter] string $projectSecret,
        #[\SensitiveParameter] string $apiKey,
        #[\SensitiveParameter] string $gatewaySecret,
    ) {
        $secrets = [
            'project_secret' => $projectSecret,
            'api_key' => $apiKey,
            'gateway_secret' => $gatewaySecret,
        ];
        foreach (['project_id' => $projectId] + $secrets as $field => $value) {
            self::check($field, $value);
        }
        $this->secrets = new Secrets($secrets);
    }

    /** Throws MissingCredentialException if a credential is absent that a call with this signature needs. */
    public function require(Signer $signer): void
    {
        $secrets = $this->secrets->all();
        $missing = match ($signer) {
            Signer::Nobody => [],
            Signer::Project => [
                'project_id' => $this->projectId === '',
                'project_secret' => $secrets['project_secret'] . $secrets['api_key'] === '',
            ],
            Signer::ProjectSecret => ['project_secret' => $secrets['project_secret'] === ''],
            Signer::Gateway => [
                'api_key' => $secrets['api_key'] === '',
                'gateway_secret' => $secrets['gateway_secret'] === '',
            ],
        };
        foreach (array_keys($missing, true, true) as $field) {
            throw new MissingCredentialException("this call needs $field", remedy: "Pass $field to the client.");
        }
    }

    /** Reports whether there is a project secret, which signs bodies instead of the API key. */
    public function hasProjectSecret(): bool
    {
        return $this->secrets->all()['project_secret'] !== '';
    }

    /**
     * Returns the headers that sign a request.
     *
     * @param string $target path and query, as they are sent
     * @param int $time the time of the signature by the clock of the server, in Unix seconds
     *
     * @return array<string, string>
     */
    public function sign(Request $request, string $target, int $time): array
    {
        $secrets = $this->secrets->all();
        if ($request->signer->signsBody()) {
            // A project can be set to refuse API keys, so the project secret is preferred.
            $key = $secrets[$this->hasProjectSecret() ? 'project_secret' : 'api_key'];
            return ['hash-signature' => Signature::body($key, $request->body)];
        }
        if ($request->signer === Signer::Nobody) {
            return [];
        }
        return [
            'api-key' => $secrets['api_key'],
            'timestamp' => (string) $time,
            'hash-signature' => Signature::gateway(
                $secrets['gateway_secret'],
                $request->method,
                $target,
                (string) $time,
                $request->idempotencyKey,
                $request->body,
            ),
        ];
    }

    /**
     * Returns a join link that the project secret signs.
     *
     * @param array<array-key, mixed> $claims
     */
    public function signJoinLink(array $claims): string
    {
        return Signature::joinLink($this->secrets->all()['project_secret'], $claims);
    }

    /** Returns a text of a server without the secrets that it repeats. */
    public function redact(string $text): string
    {
        return $this->secrets->redact($text);
    }

    /**
     * Throws InvalidArgumentException for a value that cannot be this credential. The error names the position, because
     * the response of the server to a line break at the end of a file would not give that reason.
     */
    private static function check(string $field, #[\SensitiveParameter] string $value): void
    {
        if (preg_match('/[^!-~]/', $value, $match, PREG_OFFSET_CAPTURE) === 1) {
            throw new InvalidArgumentException(sprintf(
                '%s must be printable ASCII without spaces, but has another character at position %d',
                $field,
                $match[0][1] + 1,
            ));
        }
        foreach (self::PREFIXES as $prefix => [$owner, $name]) {
            if ($owner !== $field && str_starts_with($value, $prefix)) {
                throw new InvalidArgumentException("$field begins with $prefix, so it is $name");
            }
        }
    }
}
