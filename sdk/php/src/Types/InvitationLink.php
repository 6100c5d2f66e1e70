<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use UnexpectedValueException;

/** A link that invites people. */
final class InvitationLink
{
    public function __construct(
        public readonly bool $status,
        public readonly string $invitation_link,
        /** The same value as invitation_link. */
        public readonly string $invitation_url,
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
            status: $fields->required('status', Fields::boolean(...)),
            invitation_link: $fields->required('invitation_link', Fields::string(...)),
            invitation_url: $fields->required('invitation_url', Fields::string(...)),
            request_id: $request_id,
        );
    }
}
