import type { ReactElement } from 'react';
import { call, type Schemas } from '../api/client';
import { forgetNames } from '../api/projectNames';
import { useGet } from '../api/useGet';
import { href } from '../router';
import { useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { Id } from '../ui/Copy';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { ErrorBox } from '../ui/states';
import { Facts, Time } from '../ui/values';
import { NewCredential } from './Credential';
import { Keys } from './Keys';
import { OrganizationState } from './Organizations';
import { ProjectSettings, RenameProject } from './ProjectSettings';
import { ProjectState } from './Projects';
import { SuspensionButton } from './Suspension';

/** One project: its keys with advice on their rotation, its settings, suspension and deletion. */
export function ProjectPage({ id }: { id: string }): ReactElement {
  const may = useMay();
  const project = useGet('/projects/{project_id}', { path: { project_id: id } });
  const mayRead = may('GET /organizations/{organization_id}');
  const organization = useGet(
    '/organizations/{organization_id}',
    mayRead && project.data ? { path: { organization_id: project.data.organization_id } } : null,
  );
  const above = <Link to={href('projects')}>Projects and keys</Link>;
  if (!project.data) {
    return (
      <>
        <PageHead title="Project" above={above} />
        {project.error ? <ErrorBox error={project.error} retry={project.reload} /> : <Loading />}
      </>
    );
  }
  const one = project.data;
  return (
    <>
      <PageHead
        title={one.name}
        above={above}
        actions={<ProjectActions project={one} organization={organization.data} onDone={project.reload} />}
      >
        <ProjectState project={one} />
      </PageHead>
      {organization.error && <ErrorBox error={organization.error} retry={organization.reload} />}
      {one.suspended && !one.deleted_at && organization.data?.suspended && (
        <div className="box problem">
          <p>
            The organization <Link to={href('organizations', one.organization_id)}>{organization.data.name}</Link> is suspended. The project
            cannot be resumed before the organization is.
          </p>
        </div>
      )}
      <section className="box" aria-label="Facts">
        <Facts
          rows={[
            ['Project ID', <Id key="id" id={one.project_id} what="project ID" full />],
            mayRead
              ? ['Organization', organization.data && <OrganizationLink key="organization" organization={organization.data} />]
              : ['Organization ID', <Id key="organization" id={one.organization_id} what="organization ID" full />],
            ['Created', <Time key="created" at={one.created_at} />],
            one.suspended_at !== undefined && ['Suspended', <Time key="suspended" at={one.suspended_at} />],
            [
              'See its',
              <span key="links" className="links">
                <Link to={href('rooms', null, { project: id })}>rooms</Link>{' '}
                <Link to={href('requests', null, { project: id })}>requests</Link>{' '}
                <Link to={href('webhooks', null, { project: id })}>webhooks</Link>{' '}
                <Link to={href('usage', null, { project: id })}>usage</Link>
              </span>,
            ],
          ]}
        />
      </section>
      <Keys project={one} onChanged={project.reload} />
      <ProjectSettings project={one} onChanged={project.reload} />
    </>
  );
}

function OrganizationLink({ organization }: { organization: Schemas['Organization'] }): ReactElement {
  return (
    <span className="links">
      <Link to={href('organizations', organization.organization_id)}>{organization.name}</Link>{' '}
      <OrganizationState organization={organization} />
    </span>
  );
}

interface ActionsProps {
  project: Schemas['Project'];
  /** Null for those who may not read it, and until it is loaded. A project that is suspended with it cannot be resumed alone. */
  organization: Schemas['Organization'] | null;
  onDone: () => void;
}

function ProjectActions({ project, organization, onDone }: ActionsProps): ReactElement {
  const may = useMay();
  const path = { project_id: project.project_id };
  const exists = !project.deleted_at;
  const { suspended } = project;
  return (
    <>
      {exists && may('POST /sign-in-links') && <NewCredential kind="link" project={project} />}
      {exists && may('PATCH /projects/{project_id}') && (
        <RenameProject
          project={project}
          onChanged={() => {
            forgetNames([project.project_id]);
            onDone();
          }}
        />
      )}
      {exists &&
        (!suspended || organization?.suspended === false) &&
        may(`POST /projects/{project_id}/${suspended ? 'resume' : 'suspend'}`) && (
          <SuspensionButton
            what="project"
            suspended={suspended}
            onDone={onDone}
            change={(body) =>
              suspended
                ? call('post', '/projects/{project_id}/resume', { path })
                : call('post', '/projects/{project_id}/suspend', { path, body })
            }
          >
            {suspended ? (
              <>
                <strong>{project.name}</strong> can create rooms again, and people can join them.
              </>
            ) : (
              <>
                The backend of <strong>{project.name}</strong> can then create no rooms, and nobody can join its rooms.
              </>
            )}
          </SuspensionButton>
        )}
      {exists && suspended && may('DELETE /projects/{project_id}') && (
        <ActionButton
          title="Delete the project"
          className="secondary danger-text"
          final
          typed={project.name}
          onDone={onDone}
          act={async () => {
            await call('delete', '/projects/{project_id}', { path });
            return 'The project is being deleted.';
          }}
        >
          <p>
            <strong>{project.name}</strong> is deleted permanently: its rooms end now, names of people, deliveries and recorded API calls
            are deleted at once, and the rooms and the project a day later. Only the usage of its organization stays. Nobody can undo this.
          </p>
        </ActionButton>
      )}
    </>
  );
}
