import { type ReactElement, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { useFoundProjects } from '../api/found';
import { useHasMoreProjects, useProjectName, useProjects } from '../api/projects';
import { formatTime } from '../format';
import { useCaller } from '../state/context';
import { announce } from '../ui/announce';
import { ActionButton } from '../ui/Confirm';
import { Finder } from '../ui/Finder';
import { FormDialog } from '../ui/FormDialog';
import { showSecrets } from '../ui/Secrets';
import { roleText } from './roles';

type Role = Schemas['TokenRole'];
type Kind = 'user' | 'link' | 'token';

const portalTitle = 'Create a portal link';
const titles: Record<Kind, string> = { user: 'Add a user', link: 'Create a sign-in link', token: 'Create a token' };

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/** The lifetimes of a credential in seconds; 0 is without an end. */
const lifetimes: Record<'link' | 'token', (readonly [seconds: number, text: string])[]> = {
  link: [
    [hourSeconds, '1 hour'],
    [12 * hourSeconds, '12 hours'],
    [daySeconds, '1 day'],
    [7 * daySeconds, '7 days'],
  ],
  token: [
    [30 * daySeconds, '30 days'],
    [90 * daySeconds, '90 days'],
    [365 * daySeconds, '1 year'],
    [0, 'Never'],
  ],
};

const allRoles = Object.keys(roleText) as Role[];

interface Rights {
  role: Role;
  project_ids: string[];
}

interface RightsProps {
  rights: Rights;
  /** The roles that can be given. */
  roles: Role[];
  onChange: (rights: Rights) => void;
}

/** The role, and for an integrator the projects. */
function RightsFields({ rights, roles, onChange }: RightsProps): ReactElement {
  return (
    <>
      <label className="field">
        <span>Role</span>
        <select value={rights.role} onChange={(event) => onChange({ role: event.currentTarget.value as Role, project_ids: [] })}>
          {roles.map((role) => (
            <option key={role} value={role}>
              {roleText[role].name}: {roleText[role].may}
            </option>
          ))}
        </select>
      </label>
      {rights.role === 'integrator' && (
        <ProjectChoices chosen={rights.project_ids} onChange={(project_ids) => onChange({ ...rights, project_ids })} />
      )}
    </>
  );
}

/** The number of projects from which on a form has a search in place of a list of all. */
const manyProjects = 20;

interface ChoicesProps {
  chosen: string[];
  onChange: (projectIDs: string[]) => void;
}

/** Chooses projects. When there are many, it lists those that were found, and a search adds others. */
function ProjectChoices({ chosen, onChange }: ChoicesProps): ReactElement {
  const projects = useProjects();
  const projectName = useProjectName();
  const [offered, setOffered] = useState(chosen);
  const many = useHasMoreProjects() || projects.length > manyProjects;
  const listed = many ? offered : projects.map(({ project_id }) => project_id);
  return (
    <>
      {many && (
        <Finder
          label="Find a project"
          what="project"
          useFound={useFoundProjects}
          onPick={({ id }) => {
            if (!offered.includes(id)) setOffered([...offered, id]);
            if (!chosen.includes(id)) onChange([...chosen, id]);
          }}
        />
      )}
      <fieldset className="choices">
        <legend>Projects</legend>
        {listed.map((id) => (
          <label className="check" key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={(event) => onChange(event.currentTarget.checked ? [...chosen, id] : chosen.filter((other) => other !== id))}
            />
            {projectName(id) || id}
          </label>
        ))}
        {listed.length === 0 && <p className="quiet">None is chosen yet.</p>}
      </fieldset>
    </>
  );
}

/** The fields of the API for rights: projects are for integrators only. */
const sent = ({ role, project_ids }: Rights): { role: Role; project_ids?: string[] } => ({
  role,
  ...(role === 'integrator' && { project_ids }),
});

/** Shows a secret that was created. hint says how to handle it. */
const showMade = (name: string, value: string, hint: string): void =>
  showSecrets({ title: `The new ${name}`, hint, secrets: [{ name, value }] });

const showLink = ({ url, open_by }: Schemas['NewSignInLinkWithURL']): void =>
  showMade(
    'sign-in link',
    url,
    `Send it to the person in private. It works once, and can be opened until ${formatTime(Date.parse(open_by))}.`,
  );

interface Props {
  kind: Kind;
  /** The only project of a portal link; otherwise the rights are chosen. */
  project?: Schemas['Project'];
  onDone?: () => void;
}

/** Opens a form and shows the secret that was created, once. */
export function NewCredential({ kind, project, onDone }: Props): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={project ? 'secondary' : 'primary'} onClick={() => setOpen(true)}>
        {project ? portalTitle : titles[kind]}
      </button>
      {open && (
        <CredentialForm
          kind={kind}
          project={project}
          onMade={() => {
            setOpen(false);
            onDone?.();
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface FormProps {
  kind: Kind;
  project: Schemas['Project'] | undefined;
  onMade: () => void;
  onClose: () => void;
}

function CredentialForm({ kind, project, onMade, onClose }: FormProps): ReactElement {
  const caller = useCaller();
  // Operators may create links for customers only.
  const roles = caller.role === 'owner' ? allRoles : (['integrator'] satisfies Role[]);
  const [rights, setRights] = useState<Rights>({
    role: kind === 'link' ? 'integrator' : 'operator',
    project_ids: project ? [project.project_id] : [],
  });
  const make = async (form: FormData): Promise<void> => {
    const name = String(form.get('name')).trim();
    const seconds = Number(form.get('lifetime') ?? 0);
    const expires_at = seconds > 0 ? { expires_at: new Date(Date.now() + seconds * 1000).toISOString() } : {};
    switch (kind) {
      case 'user': {
        await call('post', '/users', { body: { email: String(form.get('email')).trim(), ...(name && { name }), ...sent(rights) } });
        announce('The user is added. Without OpenID Connect, create a sign-in link for them.');
        break;
      }
      case 'link': {
        showLink(await call('post', '/sign-in-links', { body: { name, ...sent(rights), ...expires_at } }));
        break;
      }
      case 'token': {
        const { token } = await call('post', '/tokens', { body: { name, ...sent(rights), ...expires_at } as Schemas['NewToken'] });
        showMade('management token', token, 'Store it like a password. Anyone who has it gets these rights.');
      }
    }
    onMade();
  };
  return (
    <FormDialog
      title={project ? portalTitle : titles[kind]}
      submit={kind === 'user' ? 'Add the user' : 'Create'}
      act={make}
      onClose={onClose}
    >
      {project && (
        <p>
          Anyone who opens the link can see and manage only <strong>{project.name}</strong>: its rooms, API calls, webhooks, usage and keys.
        </p>
      )}
      {kind === 'user' && (
        <>
          <p>
            The user signs in with a link that you create in the list of users. If this server has an OpenID Connect provider, the user can
            also sign in there, with the same email address.
          </p>
          <label className="field">
            <span>Email address</span>
            <input name="email" type="email" maxLength={254} required autoComplete="off" />
          </label>
        </>
      )}
      <label className="field">
        <span>{kind === 'user' ? 'Name (optional)' : kind === 'link' ? 'Who will use it' : 'Name, such as the script that uses it'}</span>
        <input name="name" maxLength={255} required={kind !== 'user'} autoComplete="off" />
      </label>
      {!project && <RightsFields rights={rights} roles={roles} onChange={setRights} />}
      {kind !== 'user' && (
        <label className="field">
          <span>{kind === 'link' ? 'The session ends (from now)' : 'Expires after'}</span>
          <select name="lifetime" defaultValue={lifetimes[kind][1]?.[0]}>
            {lifetimes[kind].map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
      )}
    </FormDialog>
  );
}

/** Creates a link that signs a user in, and shows it once. */
export function SignInLink({ user }: { user: Schemas['User'] }): ReactElement {
  return (
    <ActionButton
      title="Create a link for this user"
      act={async () => {
        showLink(await call('post', '/sign-in-links', { body: { user_id: user.user_id } }));
        return 'The sign-in link is created.';
      }}
    >
      <p>
        The link signs in <strong>{user.name}</strong>, with the role and the projects of this user. It works once, within 24 hours.
      </p>
    </ActionButton>
  );
}

/** Changes the role of a user. */
export function ChangeRole({ user, onDone }: { user: Schemas['User']; onDone: () => void }): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="secondary" onClick={() => setOpen(true)}>
        Change
      </button>
      {open && <RoleForm user={user} onDone={onDone} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The form begins with the rights that the user has when it is opened. */
function RoleForm({ user, onDone, onClose }: { user: Schemas['User']; onDone: () => void; onClose: () => void }): ReactElement {
  const [rights, setRights] = useState<Rights>(user);
  return (
    <FormDialog
      title={`Change the role of ${user.name}`}
      submit="Change the role"
      onClose={onClose}
      act={async () => {
        await call('patch', '/users/{user_id}', { path: { user_id: user.user_id }, body: sent(rights) });
        onClose();
        announce('The role is changed. It applies from the next request of the user.');
        onDone();
      }}
    >
      <RightsFields rights={rights} roles={allRoles} onChange={setRights} />
    </FormDialog>
  );
}
