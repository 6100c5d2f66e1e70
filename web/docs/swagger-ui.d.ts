declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** The copy of React in the Swagger UI bundle. */
  export interface System {
    React: { createElement(type: unknown, props: object | null, ...children: unknown[]): unknown; Fragment: unknown };
  }
  /** A part of the description, in the collections of the Swagger UI bundle. */
  export interface Immutable {
    getIn(path: string[]): Immutable | undefined;
    toJS(): unknown;
  }
  interface Plugin {
    components?: Record<string, (props: { text: string }) => unknown>;
    wrapComponents?: Record<string, (original: unknown) => (props: object) => unknown>;
  }
  interface Options {
    domNode: HTMLElement;
    url: string | undefined;
    deepLinking: boolean;
    filter: boolean;
    defaultModelsExpandDepth: number;
    supportedSubmitMethods: string[];
    plugins: (Plugin | ((system: System) => Plugin))[];
    onComplete: () => void;
    validatorUrl: null;
  }
  interface Viewer {
    layoutActions: { parseDeepLinkHash(hash: string): void };
  }
  export default function SwaggerUI(options: Options): Viewer;
}
