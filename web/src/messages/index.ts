import { Store } from '../lib/store';
import type { en } from './en';

/** The languages the page speaks, each named in itself. */
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

/** The forms a number asks for in a language; `other` serves where none of its own is given. */
export type PluralForms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

/** What a message file holds: a text for every key of the English one. */
export type Messages = { readonly [K in Key]: English[K] extends Plural ? PluralForms : string };

type Placeholders<Text> = Text extends `${string}{${infer Placeholder}}${infer Rest}` ? Placeholder | Placeholders<Rest> : never;
type Values<K extends PlainKey> = [Placeholders<English[K]>] extends [never]
  ? []
  : [values: Record<Placeholders<English[K]>, string | number>];

/** Messages that need nothing filled in. */
export type SimpleKey = { [K in PlainKey]: [Placeholders<English[K]>] extends [never] ? K : never }[PlainKey];

interface ActiveLanguage {
  messages: Messages;
  /** The language as the viewer's region writes it: "de-CH". */
  locale: string;
  plural: Intl.PluralRules;
  /** Built when a number needs it: the first one takes a browser 20 to 50 ms. */
  number: Intl.NumberFormat | null;
  /** Whether numbers are written in the digits 0 to 9. */
  asciiDigits: boolean;
  rightToLeft: boolean;
}

let active: ActiveLanguage | null = null;

/** What is spoken; null until the first messages are there. */
export const currentLanguage = new Store<Language | null>(null);

/** From now on every message is one of these. */
export function setLanguage(language: Language, messages: Messages, locale: string = language): void {
  active = {
    messages,
    locale,
    plural: new Intl.PluralRules(locale),
    number: null,
    // Arabic has the digits of its region, and a tag may ask for some.
    asciiDigits: language !== 'ar' && !locale.includes('-u-'),
    rightToLeft: language === 'ar',
  };
  currentLanguage.set(language);
}

function activeLanguage(): ActiveLanguage {
  if (!active) throw new Error('words are asked for before a language is there');
  return active;
}

/** The locale that dates and times are written in. */
export const locale = (): string => activeLanguage().locale;

/** A number as people write it. */
export function formatNumber(n: number): string {
  const active = activeLanguage();
  // Below a thousand nothing stands between digits, and no sign before them.
  if (active.asciiDigits && Number.isInteger(n) && n >= 0 && n < 1000) return String(n);
  active.number ??= new Intl.NumberFormat(active.locale);
  return active.number.format(n);
}

/** The way a text runs is that of its first letter that has one. */
const rightToLeftLetter = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** A text that runs the other way, or might, keeps its order to itself. */
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

/** The message under that key; its {slots} must be given, the compiler sees to it. */
export function t<K extends PlainKey>(key: K, ...values: Values<K>): string {
  // The compiler does not see that what is not plural is text.
  const text = activeLanguage().messages[key] as string;
  return values[0] ? interpolate(text, values[0]) : text;
}

/** The message for that many, with other {slots} that it may have. */
export function count(key: PluralKey, n: number, values: Record<string, string> = {}): string {
  const { messages, plural } = activeLanguage();
  const pluralForms = messages[key];
  return interpolate(pluralForms[plural.select(n)] ?? pluralForms.other, { ...values, n });
}
