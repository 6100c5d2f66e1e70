import type { ReactElement } from 'react';
import type { Schemas } from '../api/client';
import { pageSize } from '../api/projectNames';
import { useMore } from '../api/useMore';
import { href } from '../router';
import { Id } from '../ui/Copy';
import { Filters, TextFilter } from '../ui/Filters';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { MoreButton } from '../ui/MoreButton';
import { PageHead } from '../ui/PageHead';
import { Empty, ErrorBox } from '../ui/states';
import { Table } from '../ui/Table';
import { Status, Time } from '../ui/values';
import { CreateProject } from './CreateProject';

type Project = Schemas['Project'];

/** The state of a project as the operator and the client have set it, and whether it is a test project. */
export function ProjectState({ project }: { project: Project }): ReactElement {
  return (
    <span className="links">
      {stateOf(project)} {project.test && <Status tone="idle">Test project</Status>}
    </span>
  );
}

function stateOf({ deleted_at, suspended, status }: Project): ReactElement {
  if (deleted_at) return <Status tone="bad">Being deleted</Status>;
  if (suspended) return <Status tone="bad">Suspended</Status>;
  return status === 'active' ? <Status tone="good">Active</Status> : <Status tone="idle">Inactive</Status>;
}

/** The projects with their keys, the oldest first, or those that a search finds. */
export function ProjectList({ query: { name } }: { query: Readonly<Record<string, string>> }): ReactElement {
  const list = useMore('/projects', { query: { limit: pageSize, ...(name && { search: name }) } }, !name);
  const { first, rest, error, retry } = list;
  const rows = first.data && [first.data, ...rest].flatMap(({ projects }) => projects);
  const isEmpty = rows?.length === 0 && !first.loading && !list.loadMore && !list.loadingMore;
  return (
    <>
      <PageHead title="Projects and keys" actions={<CreateProject onDone={first.reload} />}>
        A project is one integration: it has its own keys, rooms, webhooks and settings.
      </PageHead>
      <Filters active={name ? ['name'] : []}>
        <TextFilter name="name" label="Name or ID" value={name} wide />
      </Filters>
      {first.error && <ErrorBox error={first.error} retry={first.reload} />}
      {!rows && !first.error && <Loading />}
      {isEmpty && !name && (
        <Empty title="No projects yet" command="parley project create --org ORGANIZATION_ID --name NAME">
          <p>Create a project for each integration. You receive its first API key and Gateway secret.</p>
        </Empty>
      )}
      {isEmpty && name && (
        <Empty title="No project matches">
          <p>Search for a part of the name, or for the whole project ID.</p>
        </Empty>
      )}
      {rows && rows.length > 0 && <ProjectTable projects={rows} />}
      {error && <ErrorBox error={error} retry={retry} />}
      <MoreButton list={list}>Show more projects</MoreButton>
    </>
  );
}

export function ProjectTable({ projects }: { projects: Project[] }): ReactElement {
  return (
    <Table
      label="Projects"
      rows={projects}
      keyOf={({ project_id }) => project_id}
      columns={[
        {
          head: 'Project',
          wide: true,
          cell: ({ project_id, name }) => (
            <Link className="row-link" to={href('projects', project_id)}>
              {name}
            </Link>
          ),
        },
        { head: 'State', cell: (project) => <ProjectState project={project} /> },
        { head: 'Project ID', cell: ({ project_id }) => <Id id={project_id} what="project ID" /> },
        { head: 'Webhook', cell: ({ settings }) => settings.default_webhook_url || <span className="quiet">none</span> },
        { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}
