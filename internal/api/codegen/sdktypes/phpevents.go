package main

const phpEvent = phpNamespace + `
/**
 * An event, which a webhook delivers or the list of a room's events contains. Its class tells its
 * type; an event of a type that this version of the SDK does not know is an UnknownEvent.
 *
 * @property-read string $type
 * @property-read string $id The id of the event. It is the same in every delivery and list.
 * @property-read string $project_id
 * @property-read \DateTimeImmutable|null $timestamp Null only in an UnknownEvent without one.
 * @property-read int|null $sequence The number of the event in its room or project. Null only in an UnknownEvent
 *     without one.
 */
interface Event
{
}
`

const phpUnknownEvent = phpNamespace + `
use DateTimeImmutable;
use UnexpectedValueException;

/** An event of a type that this version of the SDK does not know. */
final class UnknownEvent implements Event
{
    public function __construct(
        public readonly string $type,
        /** The id of the event. It is the same in every delivery and list. */
        public readonly string $id = '',
        /** The time of the event, in UTC with millisecond precision. */
        public readonly ?DateTimeImmutable $timestamp = null,
        /** The number of the event in the room, or in the project, without gaps. */
        public readonly ?int $sequence = null,
        /** The sequence of the previous event for this receiver; 0 for the first event. */
        public readonly ?int $previous = null,
        public readonly string $project_id = '',
        /**
         * The content of the event, as it was received.
         *
         * @var array<string, mixed>
         */
        public readonly array $data = [],
    ) {
    }

    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if the event has no type; it names the path
     */
    public static function fromArray(array $data): self
    {
        return self::read($data, '');
    }

    /** @internal */
    public static function read(mixed $value, string $path): self
    {
        $fields = new Fields($value, $path);

        return new self(
            type: $fields->required('type', Fields::string(...)),
            id: $fields->optional('id', Fields::string(...)) ?? '',
            timestamp: $fields->optional('timestamp', Fields::time(...)),
            sequence: $fields->optional('sequence', Fields::integer(...)),
            previous: $fields->optional('previous', Fields::integer(...)),
            project_id: $fields->optional('project_id', Fields::string(...)) ?? '',
            data: $fields->optional('data', Fields::object(...)) ?? [],
        );
    }
}
`

func phpEventFactory(m *model) string {
	c := new(code)
	c.WriteString(phpNamespace)
	c.WriteString(`
use UnexpectedValueException;

/** Makes the event of the class that its type has. */
final class EventFactory
{
    /**
     * @param array<array-key, mixed> $data the decoded JSON
     * @throws UnexpectedValueException if it is no event; the message names the path
     */
    public static function fromArray(array $data): Event
    {
        return self::read($data, '');
    }

    /** @internal */
    public static function read(mixed $value, string $path): Event
    {
        $type = (new Fields($value, $path))->required('type', Fields::string(...));

        return match ($type) {
`)
	for _, o := range m.of(inEvent) {
		if o.eventType != "" {
			c.line(3, "'%s' => %s::read($value, $path),", o.eventType, o.name)
		}
	}
	c.WriteString(`            default => UnknownEvent::read($value, $path),
        };
    }
}
`)
	return c.String()
}
