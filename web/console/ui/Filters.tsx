import { type FormEvent, type ReactElement, type ReactNode, useEffect, useId, useState } from 'react';
import { setQuery } from '../router';

/**
 * The filters of a list. They are in the address, so that a link shows the same list. On a phone they open when asked, so that the
 * first screen shows the list. The style sheet decides whether the screen is one, so that a window can change its width while
 * somebody writes.
 */
export function Filters({ children, active }: { children: ReactNode; active: string[] }): ReactElement {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <search className="filters">
      <button type="button" className="plain fold" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
        Filters{active.length > 0 && ` (${active.length})`}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: fields that are used stay open when the window becomes narrow */}
      <div className={open ? 'filters fields open' : 'filters fields'} id={id} onFocus={() => setOpen(true)}>
        {children}
      </div>
      {active.length > 0 && (
        <button type="button" className="plain" onClick={() => setQuery(Object.fromEntries(active.map((name) => [name, undefined])))}>
          Clear filters
        </button>
      )}
    </search>
  );
}

interface FilterProps {
  name: string;
  label: string;
  value: string | undefined;
}

export function SelectFilter({
  name,
  label,
  value = '',
  options,
}: FilterProps & { options: readonly (readonly [value: string, text: string])[] }): ReactElement {
  return (
    <label className="filter">
      <span>{label}</span>
      <select value={value} onChange={(event) => setQuery({ [name]: event.currentTarget.value })}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
        {value && !options.some(([option]) => option === value) && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}

interface TextFilterProps extends FilterProps {
  placeholder?: string;
  wide?: boolean;
  /** Texts that are suggested, each with its meaning. */
  suggestions?: readonly (readonly [value: string, meaning: string])[];
  /** Returns why a text cannot be filtered by. */
  check?: (text: string) => string | null;
  /** Returns a text as the address has it. */
  write?: (text: string) => string;
}

/** A text to filter by. It applies with Enter and when the field is left. */
export function TextFilter({
  name,
  label,
  value = '',
  placeholder,
  wide = false,
  suggestions,
  check,
  write,
}: TextFilterProps): ReactElement {
  const [text, setText] = useState(value);
  const [problem, setProblem] = useState<string | null>(null);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const apply = (event?: FormEvent): void => {
    event?.preventDefault();
    const wanted = text.trim();
    const found = wanted === '' ? null : (check?.(wanted) ?? null);
    setProblem(found);
    if (!found && wanted !== value) setQuery({ [name]: write ? write(wanted) : wanted });
  };
  return (
    <form className={wide ? 'filter wide-filter' : 'filter'} onSubmit={apply}>
      <label>
        <span>{label}</span>
        <input
          type="search"
          value={text}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          enterKeyHint="search"
          list={suggestions && `${id}-list`}
          aria-invalid={problem !== null}
          aria-describedby={problem ? id : undefined}
          onChange={(event) => setText(event.currentTarget.value)}
          onBlur={() => apply()}
        />
      </label>
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map(([value, meaning]) => (
            <option key={value} value={value} label={meaning} />
          ))}
        </datalist>
      )}
      {problem && (
        <p className="small wrong" id={id} role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
