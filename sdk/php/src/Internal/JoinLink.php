<?php

declare(strict_types=1);

namespace Parley\Internal;

use Parley\Exception\InvalidArgumentException;

/**
 * The claims of signed join links.
 *
 * @internal
 */
final class JoinLink
{
    /** The longest time between the issue and the expiry of a link, in seconds. */
    public const MAX_AGE = 86_400;

    /** How long a link may wait for its first use by default, in seconds. */
    public const DEFAULT_AGE = 3600;

    /** The size of the random ID of a link, in bytes. */
    private const ID_SIZE = 16;

    private const ROLES = ['host', 'cohost', 'guest'];

    private function __construct()
    {
    }

    /**
     * Returns the claims of a new link.
     *
     * @param array<array-key, mixed> $link the arguments of the call
     * @param int $now Unix seconds by the clock of the server
     * @param int $age the seconds until the expiry
     *
     * @return array<array-key, mixed>
     */
    public static function claims(array $link, int $now, int $age): array
    {
        unset($link['expires_in']);
        $role = $link['role'] ?? 'guest';
        $id = bin2hex(random_bytes(self::ID_SIZE));
        return ['role' => $role, 'jti' => $id, 'iat' => $now, 'exp' => $now + $age] + $link;
    }

    /**
     * Returns claims as JSON, without those that are absent or empty.
     *
     * @param array<array-key, mixed> $claims
     */
    public static function encode(array $claims): string
    {
        $names = ['room_id', 'role', 'name', 'user_id', 'single_use', 'jti', 'iat', 'exp'];
        $arguments = new Arguments($claims, $names);
        $isSingleUse = $claims['single_use'] ?? false;
        if (!in_array($claims['role'] ?? null, self::ROLES, true)) {
            throw new InvalidArgumentException('role must be "host", "cohost" or "guest"');
        }
        if (!is_bool($isSingleUse)) {
            throw new InvalidArgumentException('single_use must be a boolean');
        }
        if (($isSingleUse || $claims['role'] !== 'guest') && ($claims['jti'] ?? '') === '') {
            throw new InvalidArgumentException('jti must not be empty for a host, a co-host or a single-use link');
        }
        $issued = $arguments->integerBetween('iat', 0, PHP_INT_MAX - self::MAX_AGE);
        return Body::encode([
            'room_id' => $arguments->text('room_id'),
            'role' => $claims['role'],
            'name' => $arguments->shortText('name'),
            'user_id' => $arguments->shortText('user_id'),
            'single_use' => $isSingleUse ?: null,
            'jti' => $arguments->shortText('jti'),
            'iat' => $issued,
            'exp' => $arguments->integerBetween('exp', $issued + 1, $issued + self::MAX_AGE),
        ]);
    }
}
