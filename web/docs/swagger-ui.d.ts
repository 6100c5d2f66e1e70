declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** The copy of React in the Swagger UI bundle. */
  export interface System {
    React: { createElement(type: string, props: null, child: string): unknown };
  }
  interface Plugin {
    components?: Record<string, (props: { text: string }) => unknown>;
    wrapComponents?: Record<string, () => () => null>;
  }
  interface Options {
    domNode: HTMLElement;
    url: string | undefined;
    deepLinking: boolean;
    defaultModelsExpandDepth: number;
    supportedSubmitMethods: string[];
    plugins: (Plugin | ((system: System) => Plugin))[];
    onComplete: () => void;
    validatorUrl: null;
  }
  export default function SwaggerUI(options: Options): unknown;
}
