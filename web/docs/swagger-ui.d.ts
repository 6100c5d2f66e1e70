declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Options {
    domNode: HTMLElement;
    url: string | undefined;
    deepLinking: boolean;
    defaultModelsExpandDepth: number;
    supportedSubmitMethods: string[];
    plugins: { wrapComponents: Record<string, () => () => null> }[];
    validatorUrl: null;
  }
  export default function SwaggerUI(options: Options): unknown;
}
