import { type ReactElement, useEffect, useRef, useState } from 'react';
import { useStore } from '../src/state/useStore';
import { useFoundProjects } from './api/found';
import { nameOf } from './api/projectNames';
import { Projects, useFirstProjects, useHasMoreProjects, useProjectName, useProjects } from './api/projects';
import { connected, restartStream, useFollow } from './api/useGet';
import { timeZoneName } from './format';
import { PageOf } from './pages';
import { href, type Page, type Route, setQuery } from './router';
import type { rolesByRoute } from './state/access';
import { useChosenProject } from './state/chosenProject';
import { useCaller, useMay } from './state/context';
import { type Role, setCaller, signOut } from './state/session';
import { OpenedConfirm } from './ui/Confirm';
import { Finder } from './ui/Finder';
import { Link } from './ui/Link';
import { PageHead } from './ui/PageHead';
import { Empty, ErrorBox } from './ui/states';
import { useFocusAfterRemoval } from './ui/useFocusAfterRemoval';

interface Entry {
  page: Page;
  text: string;
  /** The operation that the page is for; absent if every role may use it. */
  needs?: keyof typeof rolesByRoute;
}

const entries: { group: string; pages: Entry[] }[] = [
  {
    group: 'Meetings',
    pages: [
      { page: 'overview', text: 'Overview' },
      { page: 'rooms', text: 'Rooms' },
      { page: 'usage', text: 'Usage' },
    ],
  },
  {
    group: 'Integration',
    pages: [
      { page: 'requests', text: 'Requests' },
      { page: 'webhooks', text: 'Webhooks' },
      { page: 'projects', text: 'Projects and keys' },
      { page: 'organizations', text: 'Organizations', needs: 'GET /organizations' },
      { page: 'signature', text: 'Signature tester' },
    ],
  },
  {
    group: 'Service',
    pages: [
      { page: 'audit', text: 'Audit log', needs: 'GET /audit' },
      { page: 'nodes', text: 'Nodes', needs: 'GET /nodes' },
      { page: 'settings', text: 'Settings', needs: 'GET /settings' },
      { page: 'team', text: 'Team', needs: 'GET /tokens' },
    ],
  },
];

const roleNames: Record<Role, string> = { owner: 'Owner', operator: 'Operator', auditor: 'Auditor', integrator: 'Integrator' };

/** The frame of every page: the navigation, the project, and who is signed in. It follows the rights of the caller. */
export function Shell({ route }: { route: Route | null }): ReactElement {
  const { role } = useCaller();
  const { data, error, reload } = useFirstProjects();
  useFollow('/caller', {}, setCaller);
  useEffect(() => restartStream, []);
  useFocusAfterRemoval();
  const [open, setOpen] = useState(false);
  const key = route ? `${route.page}/${route.id ?? ''}` : '';
  useEffect(() => setOpen(false), [key]);
  const menu = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || isEscapeOfOther(event)) return;
      setOpen(false);
      menu.current?.focus();
    };
    document.addEventListener('keydown', close);
    return () => document.removeEventListener('keydown', close);
  }, [open]);
  return (
    <Projects.Provider value={data ?? (error ? { projects: [] } : null)}>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <div className="shell">
        <header className="side" data-open={open}>
          <div className="side-head">
            <Link to={href('overview')} className="brand">
              Parley console
            </Link>
            <button
              ref={menu}
              type="button"
              className="secondary menu"
              aria-expanded={open}
              aria-controls="menu"
              onClick={() => setOpen(!open)}
            >
              Menu
            </button>
          </div>
          <div className="side-body" id="menu">
            <ProjectSelect value={route?.query.project} />
            <Navigation route={route} />
            <Account />
          </div>
        </header>
        <main id="content" tabIndex={-1}>
          {error && <ErrorBox error={error} retry={reload} />}
          {role === 'integrator' && data?.projects.length === 0 ? <NoProject page={route?.page} /> : <PageOf key={key} route={route} />}
        </main>
      </div>
      <OpenedConfirm key={JSON.stringify(route)} />
    </Projects.Provider>
  );
}

/** Reports whether Escape does something else: it closes a dialog, empties a search field, or ends the composition of a character. */
function isEscapeOfOther({ isComposing, target }: KeyboardEvent): boolean {
  const isSearch = target instanceof HTMLInputElement && target.type === 'search' && target.value !== '';
  return isComposing || isSearch || document.querySelector('dialog[open]') !== null;
}

/** Shown instead of every page to an integrator whose projects were deleted: each page is about a project. */
function NoProject({ page }: { page: Page | undefined }): ReactElement {
  const entry = entries.flatMap(({ pages }) => pages).find((one) => one.page === page);
  return (
    <>
      <PageHead title={entry?.text ?? 'Projects'} />
      <Empty title="You have no project">
        <p>The projects of your access were deleted. Ask the operator of this server for access to another project.</p>
      </Empty>
    </>
  );
}

function Navigation({ route }: { route: Route | null }): ReactElement {
  const may = useMay();
  const project = route?.query.project;
  const shown = entries
    .map(({ group, pages }) => ({ group, pages: pages.filter(({ needs }) => !needs || may(needs)) }))
    .filter(({ pages }) => pages.length > 0);
  return (
    <nav aria-label="Pages">
      {shown.map(({ group, pages }) => (
        <div className="nav-group" key={group}>
          <p id={`nav-${group}`}>{group}</p>
          <ul aria-labelledby={`nav-${group}`}>
            {pages.map(({ page, text }) => (
              <li key={page}>
                <Link to={href(page, null, { project })} current={route?.page === page}>
                  {text}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Chooses the project that all pages are about. It stays in the address while the pages change. The lists of an integrator are of one project. */
function ProjectSelect({ value }: { value: string | undefined }): ReactElement | null {
  const { role } = useCaller();
  const projects = useProjects();
  const hasMore = useHasMoreProjects();
  const chosen = useChosenProject(value);
  if (hasMore) return <ProjectFinder chosen={chosen} />;
  if (role === 'integrator' && projects.length < 2) {
    return projects[0] ? <p className="one-project">{nameOf(projects[0])}</p> : null;
  }
  return (
    <label className="field">
      <span>Project</span>
      <select value={chosen ?? ''} onChange={(event) => setQuery({ project: event.currentTarget.value })}>
        {role !== 'integrator' && <option value="">All projects</option>}
        {projects.map((project) => (
          <option key={project.project_id} value={project.project_id}>
            {nameOf(project)}
          </option>
        ))}
        {chosen && !projects.some(({ project_id }) => project_id === chosen) && <option value={chosen}>{chosen}</option>}
      </select>
    </label>
  );
}

/** Chooses one of so many projects that a list of all would be too long. */
function ProjectFinder({ chosen }: { chosen: string | undefined }): ReactElement {
  const { role } = useCaller();
  const projectName = useProjectName();
  return (
    <div className="project-finder">
      <p className="one-project">
        <span className="sr-only">Project: </span>
        {chosen ? projectName(chosen) || 'Loading…' : 'All projects'}
      </p>
      <Finder label="Find a project" what="project" useFound={useFoundProjects} onPick={({ id }) => setQuery({ project: id })} />
      {chosen && role !== 'integrator' && (
        <button type="button" className="plain" onClick={() => setQuery({ project: undefined })}>
          Show all projects
        </button>
      )}
    </div>
  );
}

function Account(): ReactElement {
  const caller = useCaller();
  const live = useStore(connected);
  const [failed, setFailed] = useState<string | null>(null);
  return (
    <div className="account">
      <p className="live" data-on={live ?? undefined}>
        {live !== null && (live ? 'Updates live' : 'Not updating live')}
      </p>
      <p className="small quiet">Times in {timeZoneName()}</p>
      <p className="who">
        <strong>{caller.name}</strong>
        <span className="quiet">{roleNames[caller.role]}</span>
      </p>
      <button type="button" className="secondary" onClick={() => void signOut().then(setFailed)}>
        Sign out
      </button>
      {failed && (
        <p className="wrong" role="alert">
          You are still signed in. {failed}
        </p>
      )}
    </div>
  );
}
