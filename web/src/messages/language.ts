import { browserMemory } from '../lib/memory';
import { languages, locale, speak, spoken, type Language, type Messages } from '.';

type Load = () => Promise<{ default: Partial<Messages> }>;

/** Two small files each: the first view's words, and those of the room. Only what is spoken is loaded. */
const files: Record<Language, { page: Load; room: Load }> = {
  ar: { page: () => import('./ar.ts?page'), room: () => import('./ar.ts?room') },
  de: { page: () => import('./de.ts?page'), room: () => import('./de.ts?room') },
  en: { page: () => import('./en.ts?page'), room: () => import('./en.ts?room') },
  es: { page: () => import('./es.ts?page'), room: () => import('./es.ts?room') },
  fr: { page: () => import('./fr.ts?page'), room: () => import('./fr.ts?room') },
  tr: { page: () => import('./tr.ts?page'), room: () => import('./tr.ts?room') },
};

/** Whether the room has asked for its words. */
let withRoom = false;

async function load(language: Language): Promise<Messages> {
  const { page, room } = files[language];
  const parts = await Promise.all(withRoom ? [page(), room()] : [page()]);
  // Without the room nobody asks for what only the room says.
  return Object.assign({}, ...parts.map((part) => part.default)) as Messages;
}

const memory = 'parley.lang';
const again = 2_000;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);

interface Chosen {
  language: Language;
  /** As it was asked for, with its region. */
  locale: string;
}

/** The first of these tags ("de-CH") that the page speaks; English when it speaks none. */
export function choiceOf(tags: readonly (string | null | undefined)[]): Chosen {
  const known = tags.flatMap((tag) => {
    const language = tag ? languageOf(tag) : null;
    return tag && language ? [{ language, locale: tag }] : [];
  });
  const language = known[0]?.language ?? 'en';
  // Whoever asks for German in a Swiss browser reads numbers as the Swiss do.
  const regional = known.find(({ language: other, locale }) => other === language && locale.length > 2);
  return { language, locale: regional?.locale ?? language };
}

function languageOf(tag: string): Language | null {
  try {
    const { language } = new Intl.Locale(tag);
    return isLanguage(language) ? language : null;
  } catch {
    return null; // no tag at all
  }
}

/** Loads what this visitor reads: what the address asks for, what they chose before, what their browser says. */
export async function begin(asked: string | null): Promise<void> {
  const { language, locale: regional } = choiceOf([asked, browserMemory.get(memory), ...navigator.languages]);
  for (;;) {
    // A page without a word is worse than one in English.
    for (const candidate of new Set<Language>([language, 'en'])) {
      const messages = await load(candidate).catch(() => null);
      if (messages) return say(candidate, messages, candidate === language ? regional : candidate);
    }
    await new Promise((done) => setTimeout(done, again));
  }
}

/** Loads what only the room says, in the language that is spoken then. */
export async function addRoom(): Promise<void> {
  withRoom = true;
  for (;;) {
    const language = spoken.get() ?? 'en';
    const messages = await load(language);
    if (spoken.get() === language) return speak(language, messages, locale());
    // Another one was chosen meanwhile.
  }
}

/** The visitor's own choice: remembered, and stronger than what the address asks for. */
export async function choose(language: Language): Promise<void> {
  const messages = await load(language).catch(() => null);
  if (!messages) return;
  browserMemory.set(memory, language);
  history.replaceState(history.state, '', withoutLang(location.href));
  say(language, messages, choiceOf([language, ...navigator.languages]).locale);
}

export function withoutLang(address: string): string {
  const url = new URL(address);
  url.searchParams.delete('lang');
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (fragment.has('lang')) {
    fragment.delete('lang');
    url.hash = fragment.toString();
  }
  return url.href;
}

function say(language: Language, messages: Messages, regional: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
  speak(language, messages, regional);
}
