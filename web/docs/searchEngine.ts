// MiniSearch searches in the browser, because the documentation must work without internet access. It is
// small and has no dependencies.
import MiniSearch, { type SearchResult } from 'minisearch';
import { type SearchEntry, searchOptions } from './searchOptions';

const maxResults = 12;

export interface Found extends Pick<SearchEntry, 'page' | 'heading' | 'text' | 'address'> {
  /** The words of the index that matched. */
  terms: string[];
}

/** Loads the index, and returns a function that searches it. */
export async function loadSearch(address: string): Promise<(query: string) => Found[]> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the search index could not be loaded: ${response.status}`);
  return searchIn(await response.text());
}

/** Returns a function that searches an index. */
export function searchIn(json: string): (query: string) => Found[] {
  const index = MiniSearch.loadJSON(json, searchOptions);
  return (query) => {
    const all = index.search(query);
    const found = all.length > 0 ? all : index.search(query, { combineWith: 'OR' });
    return found.slice(0, maxResults) as (Found & SearchResult)[];
  };
}
