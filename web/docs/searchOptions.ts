import type { Options } from 'minisearch';

/** What a search can find: a section of a page, a row of the table of errors, or an operation. */
export interface SearchEntry {
  id: number;
  /** The title of the page. */
  page: string;
  heading: string;
  text: string;
  address: string;
}

/** The options of the index, which the build writes and the page reads. */
export const searchOptions: Options<SearchEntry> = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading', 'text', 'address'],
  searchOptions: {
    boost: { heading: 4, page: 2 },
    prefix: true,
    // Longer words may have a mistake. One in five letters is the value that MiniSearch proposes.
    fuzzy: (term) => (term.length > 3 ? 0.2 : false),
    combineWith: 'AND',
  },
};
