<?php

declare(strict_types=1);

namespace Parley\Internal;

/**
 * The credential that signs a request.
 *
 * @internal
 */
enum Signer
{
    /** Nothing is signed. */
    case Nobody;

    /** The project secret signs the body, or the API key if there is no project secret. */
    case Project;

    /** The project secret signs the body, and no other credential can. */
    case ProjectSecret;

    /** The Gateway secret signs the whole request and its time. */
    case Gateway;

    /** Reports whether only the body is signed. */
    public function signsBody(): bool
    {
        return $this === self::Project || $this === self::ProjectSecret;
    }
}
