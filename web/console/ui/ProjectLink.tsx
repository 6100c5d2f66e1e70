import type { ReactElement } from 'react';
import { useProjectName } from '../api/projects';
import { href } from '../router';
import { Link } from './Link';

interface Props {
  id: string;
  /** Where it leads; the page of the project if it is left out. */
  to?: string;
  className?: string;
}

/** A link with the name of a project; nothing until the name is loaded, because a link needs a text. */
export function ProjectLink({ id, to = href('projects', id), className }: Props): ReactElement | null {
  const name = useProjectName()(id);
  if (name === '') return null;
  return (
    <Link to={to} className={className}>
      {name}
    </Link>
  );
}
