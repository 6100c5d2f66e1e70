import 'react';

declare module 'react' {
  // Custom properties that the style sheets read. React sets them one by one, as the
  // content security policy requires.
  interface CSSProperties {
    [name: `--${string}`]: string | number;
  }
}
