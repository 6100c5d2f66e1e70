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
  const [wanted, setWanted] = useState('');
  const [takeFirst, setTakeFirst] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const { options, more, error } = useFound(wanted);
  const input = useRef<HTMLInputElement>(null);
  const searched = wanted !== '' && wanted === text.trim();
  const pick = (option: Option): void => {
    setText('');
    setWanted('');
    input.current?.focus(); // the button of the match disappears
    onPick(option);
  };
  // Enter may come before the matches.
  useEffect(() => {
    if (!takeFirst || !searched || (!options && !error)) return;
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
            setWanted(text.trim());
            setTakeFirst(text.trim() !== '');
          }}
        />
      </label>
      {error && <ErrorBox error={error} />}
      <p className={searched && options?.length === 0 ? 'small quiet' : 'sr-only'} role="status">
        {searched && options && (options.length > 0 ? `${formatCount(options.length, what)} found` : `No ${what} matches.`)}
      </p>
      {searched && options && options.length > 0 && (
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
      {searched && more && <p className="small quiet">There are more: write more of the name.</p>}
    </div>
  );
}
