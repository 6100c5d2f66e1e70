import { Store } from '../state/store';
import type { en } from './en';

/** The supported languages, each with its own name. */
export const languages = {
  ar: 'العربية',
  de: 'Deutsch',
  en: 'English',
  es: 'Español',
  fr: 'Français',
  tr: 'Türkçe',
} as const;

export type Language = keyof typeof languages;

type English = typeof en;
type Key = keyof English;
type Plural = { readonly one: string; readonly other: string };
type PluralKey = { [K in Key]: English[K] extends Plural ? K : never }[Key];
export type PlainKey = Exclude<Key, PluralKey>;

/** The plural forms of a language. `other` is the fallback. */
export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** The content of a message file: a text for every key of the English file. */
export type Messages = { readonly [K in Key]: English[K] extends Plural ? PluralForms : string };

type Placeholders<Text> = Text extends `${string}{${infer Placeholder}}${infer Rest}` ? Placeholder | Placeholders<Rest> : never;
type Values<K extends PlainKey> = [Placeholders<English[K]>] extends [never]
  ? []
  : [values: Record<Placeholders<English[K]>, string | number>];

/** Keys of messages without placeholders. */
export type SimpleKey = { [K in PlainKey]: [Placeholders<English[K]>] extends [never] ? K : never }[PlainKey];

interface ActiveLanguage {
  messages: Messages;
  /** The language with the visitor's region, for example "de-CH". */
  locale: string;
  plural: Intl.PluralRules;
  /** Created on first use, because the first one takes a browser 20 to 50 ms. */
  number: Intl.NumberFormat | null;
  /** Whether numbers use the digits 0 to 9. */
  asciiDigits: boolean;
  rightToLeft: boolean;
}

let active: ActiveLanguage | null = null;

/** Null until the first messages are loaded. */
export const currentLanguage = new Store<Language | null>(null);

/** Makes this the language of all messages. */
export function setLanguage(language: Language, messages: Messages, locale: string = language): void {
  active = {
    messages,
    locale,
    plural: new Intl.PluralRules(locale),
    number: null,
    // Arabic uses the digits of the region, and a tag may name a numbering system.
    asciiDigits: language !== 'ar' && !locale.includes('-u-'),
    rightToLeft: language === 'ar',
  };
  currentLanguage.set(language);
}

function activeLanguage(): ActiveLanguage {
  if (!active) throw new Error('words are asked for before a language is there');
  return active;
}

/** The locale for dates and times. */
export const locale = (): string => activeLanguage().locale;

/** Formats a number. */
export function formatNumber(n: number): string {
  const active = activeLanguage();
  // Below a thousand there is no group separator.
  if (active.asciiDigits && Number.isInteger(n) && n >= 0 && n < 1000) return String(n);
  active.number ??= new Intl.NumberFormat(active.locale);
  return active.number.format(n);
}

/** The direction of a text is that of its first letter. */
const rightToLeftLetter = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Isolates a text that runs or may run in the other direction. */
function isolateDirection(text: string, rightToLeft: boolean): string {
  return rightToLeft || rightToLeftLetter.test(text) ? `\u2068${text}\u2069` : text;
}

function interpolate(text: string, values: Record<string, string | number>): string {
  const { rightToLeft } = activeLanguage();
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) return placeholder;
    return typeof value === 'number' ? formatNumber(value) : isolateDirection(value, rightToLeft);
  });
}

/** Returns the message for a key. The compiler checks that all placeholders are given. */
export function t<K extends PlainKey>(key: K, ...values: Values<K>): string {
  // The compiler cannot infer that a key without plural forms has a string.
  const text = activeLanguage().messages[key] as string;
  return values[0] ? interpolate(text, values[0]) : text;
}

/** Returns the plural form for n, with other placeholders filled in. */
export function count(key: PluralKey, n: number, values: Record<string, string> = {}): string {
  const { messages, plural } = activeLanguage();
  const pluralForms = messages[key];
  return interpolate(pluralForms[plural.select(n)] ?? pluralForms.other, { ...values, n });
}
