import { type ReactElement, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { href } from '../router';
import { useMay } from '../state/context';
import { Id } from '../ui/Copy';
import { FormDialog } from '../ui/FormDialog';
import { Link } from '../ui/Link';
import { List } from '../ui/List';
import { PageHead } from '../ui/PageHead';
import { Secrets } from '../ui/Secrets';
import { Empty, ErrorBox } from '../ui/states';
import { Status, Time } from '../ui/values';

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

/** The projects with their keys. */
export function ProjectList(): ReactElement {
  const may = useMay();
  const projects = useGet('/projects', { query: {} });
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<Schemas['NewProjectWithSecrets'] | null>(null);
  const create = may('POST /projects') && (
    <button type="button" className="primary" onClick={() => setCreating(true)}>
      Create a project
    </button>
  );
  return (
    <>
      <PageHead title="Projects and keys" actions={create}>
        A project is one integration: it has its own keys, rooms, webhooks and settings.
      </PageHead>
      <List
        label="Projects"
        resource={projects}
        rowsOf={(data) => data.projects}
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
        empty={
          <Empty title="No projects yet" command="parley project create --org ORGANIZATION_ID --name NAME">
            <p>Create a project for each integration. You receive its first API key and Gateway secret.</p>
          </Empty>
        }
      />
      {creating && (
        <NewProject
          onCreated={(made) => {
            setCreating(false);
            setCreated(made);
            projects.reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created && (
        <Secrets
          title={`The keys of ${created.name}`}
          hint="Give these to the person who builds the integration."
          secrets={[
            { name: 'API key', value: created.api_key },
            { name: 'Gateway secret', value: created.gateway_secret },
            { name: 'Project secret', value: created.project_secret },
          ]}
          onClose={() => setCreated(null)}
        />
      )}
    </>
  );
}

function NewProject({
  onCreated,
  onClose,
}: {
  onCreated: (made: Schemas['NewProjectWithSecrets']) => void;
  onClose: () => void;
}): ReactElement {
  const organizations = useGet('/organizations', {}, false);
  return (
    <FormDialog
      title="Create a project"
      submit="Create the project"
      onClose={onClose}
      act={async (form) =>
        onCreated(
          await call('post', '/projects', {
            body: {
              organization_id: String(form.get('organization')),
              name: String(form.get('name')),
              test: form.get('test') !== null,
            },
          }),
        )
      }
    >
      <label className="field">
        <span>Name</span>
        <input name="name" maxLength={255} required autoComplete="off" />
      </label>
      <label className="field">
        <span>Organization, which pays for its usage</span>
        <select name="organization" required>
          {(organizations.data?.organizations ?? []).map(({ organization_id, name }) => (
            <option key={organization_id} value={organization_id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label className="check">
        <input type="checkbox" name="test" />
        Test project: it costs nothing, its rooms are shown as test rooms, and meetings can be simulated in it. This cannot be changed
        later.
      </label>
      {organizations.error && <ErrorBox error={organizations.error} retry={organizations.reload} />}
    </FormDialog>
  );
}
