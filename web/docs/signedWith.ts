import type { Immutable, System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';

export interface Scheme {
  name: string;
  description: string;
}

/**
 * Returns the headers with which an operation is signed. path is its place in the description. The headers of
 * webhooks are parameters already.
 */
export function signingHeaders(description: Immutable, path: string[]): Scheme[] {
  if (path[0] !== 'paths') return [];
  const security = description.getIn([...path, 'security']) ?? description.getIn(['security']);
  const [required = {}] = (security?.toJS() ?? []) as Record<string, string[]>[];
  return Object.keys(required).map((name) => {
    const scheme = description.getIn(['components', 'securitySchemes', name]);
    if (!scheme) throw new Error(`the description has no security scheme ${name}`);
    return scheme.toJS() as Scheme;
  });
}

interface ParametersProps {
  specPath: Immutable;
  getComponent(name: string, container: true): unknown;
  specSelectors: { specJson(): Immutable };
}

/** Shows these headers above the parameters of an operation, in the same form. */
export const signedWith = ({ React }: System) => {
  const create = React.createElement;
  const element =
    (tag: string, className?: string) =>
    (...children: unknown[]) =>
      create(tag, className ? { className } : null, ...children);
  const [thead, tbody, tr, span] = [element('thead'), element('tbody'), element('tr'), element('span')];
  const head = tr(
    element('th', 'col_header parameters-col_name')('Name'),
    element('th', 'col_header parameters-col_description')('Description'),
  );
  const row = ({ name, description }: Scheme, markdown: unknown) =>
    tr(
      element('td', 'parameters-col_name')(
        element('div', 'parameter__name required')(name, span(' *')),
        element('div', 'parameter__in')('(header)'),
      ),
      element('td', 'parameters-col_description')(create(markdown, { source: description })),
    );
  const section = (rows: unknown[]) =>
    element('div', 'opblock-section signed-with')(
      element('div', 'opblock-section-header')(element('h4', 'opblock-title')('Signed with')),
      element('div', 'table-container')(element('table', 'parameters')(thead(head), tbody(...rows))),
    );
  return {
    wrapComponents: {
      parameters: (Original: unknown) => (props: object) => {
        const { specPath, getComponent, specSelectors } = props as ParametersProps;
        const path = (specPath.toJS() as string[]).slice(0, -1);
        const schemes = signingHeaders(specSelectors.specJson(), path);
        const original = create(Original, props);
        if (schemes.length === 0) return original;
        const markdown = getComponent('Markdown', true);
        return create(React.Fragment, null, section(schemes.map((one) => row(one, markdown))), original);
      },
    },
  };
};
