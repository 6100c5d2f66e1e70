// The descriptions are YAML, and the search needs their operations when the pages are built.
import { Marked } from 'marked';
import { parse } from 'yaml';
import { plainText } from './headings.ts';

export interface Operation {
  method: string;
  /** The path with the version, such as /api/v4/rooms/join_room. */
  path: string;
  summary: string;
  /** The first paragraph of its description, without Markdown. */
  description: string;
  /** The part of the address with which the reference page opens the operation. */
  anchor: string;
}

interface Description {
  servers: { url: string }[];
  paths: Record<string, Record<string, DescribedOperation>>;
}

interface DescribedOperation {
  operationId: string;
  tags?: string[];
  summary: string;
  description?: string;
}

function firstParagraph(markdown: string): string {
  const paragraph = new Marked().lexer(markdown).find(({ type }) => type === 'paragraph');
  return paragraph ? plainText([paragraph]).replace(/\s+/g, ' ').trim() : '';
}

/** Returns the operations of an API description. */
export function operations(yaml: string): Operation[] {
  const { servers, paths } = parse(yaml) as Description;
  const methods = new Set(['get', 'put', 'post', 'delete', 'patch']);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, { operationId, tags: [tag = 'default'] = [], summary, description = '' }]) => ({
        method: method.toUpperCase(),
        path: `${servers[0]?.url ?? ''}${path}`,
        summary,
        description: firstParagraph(description),
        // The form of Swagger UI.
        anchor: `#/${encodeURIComponent(tag)}/${operationId}`,
      })),
  );
}
