import { browserStorage } from '../state/storage';
import { currentLanguage, type Language, languages, locale, type Messages, setLanguage } from '.';

type Load = () => Promise<{ default: Partial<Messages> }>;

/**
 * Two files per language: the messages of the first view, and the rest. Only the current
 * language is loaded.
 */
const files: Record<Language, { first: Load; rest: Load }> = {
  ar: { first: () => import('./ar.ts?first'), rest: () => import('./ar.ts?rest') },
  de: { first: () => import('./de.ts?first'), rest: () => import('./de.ts?rest') },
  en: { first: () => import('./en.ts?first'), rest: () => import('./en.ts?rest') },
  es: { first: () => import('./es.ts?first'), rest: () => import('./es.ts?rest') },
  fr: { first: () => import('./fr.ts?first'), rest: () => import('./fr.ts?rest') },
  tr: { first: () => import('./tr.ts?first'), rest: () => import('./tr.ts?rest') },
};

/** Whether the messages beyond the first view were requested. */
let restRequested = false;

async function load(language: Language): Promise<Messages> {
  const { first, rest } = files[language];
  const parts = await Promise.all(restRequested ? [first(), rest()] : [first()]);
  // No screen uses the rest before it is loaded.
  return Object.assign({}, ...parts.map((part) => part.default)) as Messages;
}

const storageKey = 'parley.lang';
const retryMs = 2_000;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(languages, tag);

interface LanguageChoice {
  language: Language;
  /** As requested, with the region. */
  locale: string;
}

/** Returns the first supported language of these tags (such as "de-CH"); English when none is supported. */
export function selectLanguage(tags: readonly (string | null | undefined)[]): LanguageChoice {
  const supported = tags.flatMap((requested) => {
    // Operating systems write de_AT, browsers de-AT.
    const tag = requested?.replaceAll('_', '-');
    const language = tag ? languageOf(tag) : null;
    return tag && language ? [{ language, locale: tag }] : [];
  });
  const language = supported[0]?.language ?? 'en';
  // A visitor who chooses German in a Swiss browser expects Swiss number formats.
  const regional = supported.find(({ language: other, locale }) => other === language && locale.length > 2);
  return { language, locale: regional?.locale ?? language };
}

function languageOf(tag: string): Language | null {
  try {
    const { language } = new Intl.Locale(tag);
    return isLanguage(language) ? language : null;
  } catch {
    return null; // not a valid tag
  }
}

/**
 * Loads the messages of the first view: by the address, the visitor's earlier choice, or
 * the browser's languages.
 */
export async function loadInitialLanguage(requested: string | null): Promise<void> {
  const { language, locale: regional } = selectLanguage([requested, browserStorage.get(storageKey), ...navigator.languages]);
  for (;;) {
    // A page in English is better than one without text.
    for (const candidate of new Set<Language>([language, 'en'])) {
      const messages = await load(candidate).catch(() => null);
      if (messages) return applyLanguage(candidate, messages, candidate === language ? regional : candidate);
    }
    await new Promise((done) => setTimeout(done, retryMs));
  }
}

/** Loads the messages beyond the first view in the current language. */
export async function loadRemainingMessages(): Promise<void> {
  restRequested = true;
  for (;;) {
    const language = currentLanguage.get() ?? 'en';
    const messages = await load(language);
    if (currentLanguage.get() === language) return setLanguage(language, messages, locale());
    // The visitor has chosen another language meanwhile.
  }
}

/** The visitor's choice is remembered and overrides the address. */
export async function chooseLanguage(language: Language): Promise<void> {
  const messages = await load(language).catch(() => null);
  if (!messages) return;
  browserStorage.set(storageKey, language);
  history.replaceState(history.state, '', removeLangParameter(location.href));
  applyLanguage(language, messages, selectLanguage([language, ...navigator.languages]).locale);
}

export function removeLangParameter(address: string): string {
  const url = new URL(address);
  url.searchParams.delete('lang');
  const fragment = new URLSearchParams(url.hash.slice(1));
  if (fragment.has('lang')) {
    fragment.delete('lang');
    url.hash = fragment.toString();
  }
  return url.href;
}

function applyLanguage(language: Language, messages: Messages, regional: string): void {
  document.documentElement.lang = language;
  document.documentElement.dir = language === 'ar' ? 'rtl' : 'ltr';
  setLanguage(language, messages, regional);
}
