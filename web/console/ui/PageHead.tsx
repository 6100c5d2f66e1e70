import { type ReactElement, type ReactNode, useEffect, useRef } from 'react';

interface Props {
  title: string;
  /** The page above this one. */
  above?: ReactNode;
  /** Describes the page in a line. */
  children?: ReactNode;
  actions?: ReactNode;
}

/** The head of a page. The heading gets the focus, so that screen readers read it. */
export function PageHead({ title, above, children, actions }: Props): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Parley console`;
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [title]);
  return (
    <header className="page-head">
      <div className="page-title">
        {above && <p className="above">{above}</p>}
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children && <div className="quiet">{children}</div>}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </header>
  );
}
