import { type ReactElement, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { href } from '../router';
import { useMay } from '../state/context';
import { Dialog } from '../ui/Dialog';
import { FormDialog } from '../ui/FormDialog';
import { Link } from '../ui/Link';
import { showSecrets } from '../ui/Secrets';
import { ErrorBox } from '../ui/states';
import { OrganizationChoice, useFirstOrganizations } from './OrganizationChoice';

interface Props {
  /** The organization of the project; without it, the form asks for one. */
  organization?: Schemas['Organization'];
  onDone: () => void;
}

/** Opens the form of a new project, and shows its keys once. It is absent for those who may not create projects. */
export function CreateProject({ organization, onDone }: Props): ReactElement | null {
  const may = useMay();
  const [creating, setCreating] = useState(false);
  if (!may('POST /projects')) return null;
  return (
    <>
      <button type="button" className="primary" onClick={() => setCreating(true)}>
        Create a project
      </button>
      {creating && (
        <NewProject
          organization={organization}
          onCreated={(made) => {
            setCreating(false);
            showSecrets({
              title: `The keys of ${made.name}`,
              hint: 'Give these to the person who builds the integration.',
              secrets: [
                { name: 'API key', value: made.api_key },
                { name: 'Gateway secret', value: made.gateway_secret },
                { name: 'Project secret', value: made.project_secret },
              ],
            });
            onDone();
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}

interface FormProps {
  organization: Schemas['Organization'] | undefined;
  onCreated: (made: Schemas['NewProjectWithSecrets']) => void;
  onClose: () => void;
}

function NewProject({ organization, onCreated, onClose }: FormProps): ReactElement {
  const organizations = useFirstOrganizations(!organization);
  const [picked, setPicked] = useState<string | undefined>(organization?.organization_id);
  const choices = organizations.data?.organizations;
  const chosen = picked ?? choices?.find(({ suspended }) => !suspended)?.organization_id;
  if (choices?.length === 0) {
    return (
      <Dialog title="Create a project" onClose={onClose}>
        <p>
          A project belongs to an organization, which pays for the project’s usage. There is no organization yet.{' '}
          <Link to={href('organizations')} onGo={onClose}>
            Create an organization
          </Link>{' '}
          first.
        </p>
        <div className="actions">
          <button type="button" className="secondary" onClick={onClose}>
            Cancel
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Create a project"
      submit="Create the project"
      incomplete={chosen === undefined}
      onClose={onClose}
      act={async (form) =>
        onCreated(
          await call('post', '/projects', {
            body: {
              organization_id: chosen ?? '',
              name: String(form.get('name')).trim(),
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
      {organization ? (
        <p>
          The organization <strong>{organization.name}</strong> pays for the project’s usage.
        </p>
      ) : (
        organizations.data && (
          <OrganizationChoice
            label="Organization that pays for the project’s usage"
            first={organizations.data}
            value={chosen}
            onPick={setPicked}
            activeOnly
          />
        )
      )}
      {organizations.error && <ErrorBox error={organizations.error} retry={organizations.reload} />}
      <label className="check">
        <input type="checkbox" name="test" />
        Test project: it costs nothing, its rooms are shown as test rooms, and meetings can be simulated in it. This cannot be changed
        later.
      </label>
    </FormDialog>
  );
}
