import 'react';

declare module 'react' {
  // Style sheets read these; React hands them on one by one, as the policy wants.
  interface CSSProperties {
    [name: `--${string}`]: string | number;
  }
}
