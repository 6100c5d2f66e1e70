import type { ReactElement } from 'react';
import { href, readRoute } from '../router';
import { Link } from './Link';

interface Props {
  label: string;
  current: string;
  tabs: (readonly [view: string, text: string])[];
}

/** Links to the views of a page. They keep the project and drop the filters of the other view. */
export function Tabs({ label, current, tabs }: Props): ReactElement {
  const route = readRoute(location);
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(([view, text]) => (
        <Link key={view} to={route ? href(route.page, route.id, { project: route.query.project, view }) : ''} current={view === current}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
