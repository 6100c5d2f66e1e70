<?php

// Generated from the OpenAPI descriptions. Do not edit.

declare(strict_types=1);

namespace Parley\Types;

use DateTimeImmutable;
use UnexpectedValueException;

/**
 * The usage in the current calendar month (UTC): of all projects of the organization but test
 * projects, or of the test project.
 */
final class Usage
{
    public function __construct(
        public readonly string $organization_id,
        /** @var 'plan'|'payg'|string */
        public readonly string $billing_model,
        public readonly UsagePeriod $period,
        public readonly DateTimeImmutable $as_of,
        public readonly UsageTotals $totals,
        public readonly PlanUsage $plan,
        /**
         * Present and true for a key of a test project: the totals are those of this project, which
         * costs nothing. The totals of an organization do not contain those of its test projects.
         */
        public readonly ?bool $test = null,
        public readonly ?PayAsYouGo $pay_as_you_go = null,
        /** Identifies this request, from a response header. Quote it to support. */
        public readonly string $request_id = '',
        /**
         * The number of correctly signed version 5 calls of the organization on this UTC day,
         * including this one, from the header X-Gateway-Requests-Used. It is null if the server
         * does not know it.
         */
        public readonly ?int $requests_used = null,
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if a field is absent or has another type; it names the path
     */
    public static function fromArray(
        array $data,
        string $request_id = '',
        ?int $requests_used = null,
    ): self {
        return self::read($data, '', $request_id, $requests_used);
    }

    /** @internal */
    public static function read(
        mixed $value,
        string $path,
        string $request_id = '',
        ?int $requests_used = null,
    ): self {
        $fields = new Fields($value, $path);

        return new self(
            organization_id: $fields->required('organization_id', Fields::string(...)),
            billing_model: $fields->required('billing_model', Fields::string(...)),
            period: $fields->required('period', UsagePeriod::read(...)),
            as_of: $fields->required('as_of', Fields::time(...)),
            totals: $fields->required('totals', UsageTotals::read(...)),
            plan: $fields->required('plan', PlanUsage::read(...)),
            test: $fields->optional('test', Fields::boolean(...)),
            pay_as_you_go: $fields->optional('pay_as_you_go', PayAsYouGo::read(...)),
            request_id: $request_id,
            requests_used: $requests_used,
        );
    }
}
