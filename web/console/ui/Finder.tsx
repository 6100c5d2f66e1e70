import { type ReactElement, useEffect, useRef, useState } from 'react';
import type { ApiError } from '../api/client';
import { formatCount } from '../format';
import { ErrorBox } from './states';

export interface Option {
  id: string;
  text: string;
  disabled?: boolean;
}

/** What a search finds. The options are null while the search of the text is not finished. */
export interface Found<O extends Option = Option> {
  options: O[] | null;
  /** Whether there are more than the options. */
  more: boolean;
  error: ApiError | null;
}

/** How long to wait after the last key before the search begins. */
const pauseMs = 200;

interface Props {
  /** Says what is found, and by what. */
  label: string;
  /** What one of the options is, such as project. */
  what: string;
  /** The hook that searches; it searches nothing for an empty text. */
  useFound: (text: string) => Found;
  onPick: (option: Option) => void;
}

/** Finds one of many things by a part of its name. The matches are buttons below the text; Enter takes the first. */
export function Finder({ label, what, useFound, onPick }: Props): ReactElement {
  const [text, setText] = useState('');
  const [query, setQuery] = useState('');
  const [takeFirst, setTakeFirst] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setQuery(text.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const { options, more, error } = useFound(query);
  const input = useRef<HTMLInputElement>(null);
  const isCurrent = query !== '' && query === text.trim();
  const pick = (option: Option): void => {
    setText('');
    setQuery('');
    input.current?.focus(); // the button of the match disappears
    onPick(option);
  };
  // Enter may come before the matches.
  useEffect(() => {
    if (!takeFirst || !isCurrent || (!options && !error)) return;
    setTakeFirst(false);
    const first = options?.find(({ disabled }) => !disabled);
    if (first) pick(first);
  });
  const textOf = ({ id, text }: Option): string =>
    options?.some((other) => other.id !== id && other.text === text) ? `${text} (…${id.slice(-6)})` : text;
  return (
    <div className="finder">
      <label className="field">
        <span>{label}</span>
        <input
          ref={input}
          type="search"
          value={text}
          autoComplete="off"
          spellCheck={false}
          enterKeyHint="search"
          maxLength={255}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setTakeFirst(false);
          }}
          onBlur={() => setTakeFirst(false)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
            event.preventDefault(); // it would submit the form
            setQuery(text.trim());
            setTakeFirst(text.trim() !== '');
          }}
        />
      </label>
      {error && <ErrorBox error={error} />}
      <p className={isCurrent && options?.length === 0 ? 'small quiet' : 'sr-only'} role="status">
        {isCurrent && options && (options.length > 0 ? `${formatCount(options.length, what)} found` : `No ${what} matches.`)}
      </p>
      {isCurrent && options && options.length > 0 && (
        <ul className="found">
          {options.map((option) => (
            <li key={option.id}>
              <button type="button" className="plain" disabled={option.disabled ?? false} onClick={() => pick(option)}>
                {textOf(option)}
              </button>
            </li>
          ))}
        </ul>
      )}
      {isCurrent && more && <p className="small quiet">There are more: type more of the name.</p>}
    </div>
  );
}
