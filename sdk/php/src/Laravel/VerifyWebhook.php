<?php

declare(strict_types=1);

namespace Parley\Laravel;

use Closure;
use Parley\Exception\InvalidSignatureException;
use Parley\Internal\Secrets;
use Parley\Signature;
use Parley\Types\Event;
use Parley\Webhook;
use Symfony\Component\HttpFoundation\Response;

/**
 * Verifies webhooks before a route of Laravel. The route finds the event in `$request->attributes->get(Event::class)`.
 * A request without a valid signature gets 401 and does not reach the route. Laravel responds with 500 to an exception
 * of the route, and Parley then sends the event again.
 *
 * The route must not check a CSRF token: put it into routes/api.php, or except it from that check. Tell the container
 * the project secret in a service provider:
 *
 *     $this->app->when(VerifyWebhook::class)->needs('$secrets')->giveConfig('services.parley.project_secret');
 */
final class VerifyWebhook
{
    /** The name of the request attribute with the event. */
    public const EVENT = Event::class;

    private readonly Secrets $secrets;

    /**
     * @param string|list<string> $secrets the project secret; during its rotation you can pass the old and the new one
     * @param int $tolerance how many seconds the timestamp may differ from the clock, in either direction
     */
    public function __construct(
        #[\SensitiveParameter] string|array $secrets,
        private readonly int $tolerance = Signature::TOLERANCE,
    ) {
        $this->secrets = new Secrets((array) $secrets);
    }

    /**
     * @param \Illuminate\Http\Request $request
     *
     * @return mixed the response of the route, or the response 401
     */
    public function handle($request, Closure $next): mixed
    {
        $headers = $request->headers->all();
        try {
            $event = Webhook::verify($this->secrets->all(), $headers, $request->getContent(), $this->tolerance);
        } catch (InvalidSignatureException $problem) {
            $headers = ['Content-Type' => 'text/plain; charset=utf-8'];
            return new Response($problem->getMessage() . "\n", 401, $headers);
        }
        $request->attributes->set(self::EVENT, $event);
        return $next($request);
    }
}
