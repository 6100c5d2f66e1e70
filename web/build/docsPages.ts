/** A page of the documentation in the sidebar. */
export interface DocsPage {
  /** The last part of its address, and of the name of its file in docs/api. */
  name: string;
  title: string;
  /** What it has, in one line for search engines and language models. */
  summary: string;
  /** The address of the API description, if the page shows one. */
  description?: string;
}

export interface DocsGroup {
  title: string;
  pages: DocsPage[];
}
