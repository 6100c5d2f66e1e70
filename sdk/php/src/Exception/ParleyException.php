<?php

declare(strict_types=1);

namespace Parley\Exception;

/**
 * The base class of all exceptions of this package. There is one subclass for each kind.
 *
 * getMessage() returns the whole text: the status, the sentence and the ID of the request, and on a
 * second line the remedy if there is one. getCode() returns the status, or 0 without a response.
 *
 * An exception contains no secret, and its stack trace contains no arguments of functions. The names of the
 * properties are those of the wire, except error_code and error_message, because PHP uses the names code and message
 * for something else.
 */
abstract class ParleyException extends \RuntimeException implements \JsonSerializable
{
    /** The kind of the class, the same in the SDKs of all languages. */
    public const KIND = '';

    public readonly string $kind;

    /**
     * @internal
     *
     * @param string $error_message the sentence of the server, at most 500 printable characters; without one, the
     *     text of the status or what this package found
     * @param int|null $status the HTTP status, or null without a response
     * @param string $error_code the code of version 5, such as SVC_RATE_LIMITED, or ''
     * @param string $request_id identifies the request in the log of the server, or ''
     * @param int|null $retry_after how many seconds the server asks to wait, at most 86,400, or null
     * @param int $attempts the number of requests that were sent
     * @param string $remedy what to do about it, or ''
     */
    final public function __construct(
        public readonly string $error_message,
        public readonly ?int $status = null,
        public readonly string $error_code = '',
        public readonly string $request_id = '',
        public readonly ?int $retry_after = null,
        public readonly int $attempts = 0,
        public readonly string $remedy = '',
    ) {
        $this->kind = static::KIND;
        parent::__construct($this->text(), $status ?? 0);
        $this->removeArguments();
    }

    /**
     * Returns the fields with the names that they have in the SDKs of all languages.
     *
     * @return array{
     *     kind: string, status: int|null, code: string, message: string, request_id: string,
     *     retry_after: int|null, attempts: int, remedy: string
     * }
     */
    public function jsonSerialize(): array
    {
        return [
            'kind' => $this->kind,
            'status' => $this->status,
            'code' => $this->error_code,
            'message' => $this->error_message,
            'request_id' => $this->request_id,
            'retry_after' => $this->retry_after,
            'attempts' => $this->attempts,
            'remedy' => $this->remedy,
        ];
    }

    private function text(): string
    {
        $text = $this->error_message;
        if ($this->status !== null) {
            $text = rtrim($this->status . ' ' . $this->error_code) . ': ' . $text;
        }
        if ($this->request_id !== '') {
            $text .= ' (request ' . $this->request_id . ')';
        }
        return $this->remedy === '' ? $text : $text . "\n" . $this->remedy;
    }

    /**
     * A stack trace contains the arguments of all callers, unless zend.exception_ignore_args is on. Functions of the
     * application can have secrets as arguments, and PHP 8.1 does not know SensitiveParameter.
     */
    private function removeArguments(): void
    {
        $frames = array_map(
            static fn (array $frame): array => array_diff_key($frame, ['args' => true]),
            $this->getTrace(),
        );
        (new \ReflectionProperty(\Exception::class, 'trace'))->setValue($this, $frames);
    }
}
