import { en } from './en';

type Messages = typeof en;
type Key = keyof Messages;
type Plural = { readonly one: string; readonly other: string };
type PluralKey = { [K in Key]: Messages[K] extends Plural ? K : never }[Key];
export type PlainKey = Exclude<Key, PluralKey>;

type Slots<Text> = Text extends `${string}{${infer Slot}}${infer Rest}` ? Slot | Slots<Rest> : never;
type Values<K extends PlainKey> = [Slots<Messages[K]>] extends [never]
  ? []
  : [values: Record<Slots<Messages[K]>, string | number>];

const plural = new Intl.PluralRules('en');
const number = new Intl.NumberFormat('en');

function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (slot, name: string) => {
    const value = values[name];
    return value === undefined ? slot : typeof value === 'number' ? number.format(value) : value;
  });
}

/** The message under that key; its {slots} must be given, the compiler sees to it. */
export function t<K extends PlainKey>(key: K, ...values: Values<K>): string {
  const text: string = en[key];
  return values[0] ? fill(text, values[0]) : text;
}

/** The message for that many, with other {slots} that it may have. */
export function count(key: PluralKey, n: number, values: Record<string, string> = {}): string {
  return fill(en[key][plural.select(n) === 'one' ? 'one' : 'other'], { ...values, n });
}
