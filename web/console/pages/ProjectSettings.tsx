import { type ReactElement, useId, useState } from 'react';
import { ApiError, call, type Schemas } from '../api/client';
import { useMay } from '../state/context';
import { announce } from '../ui/announce';
import { FormDialog } from '../ui/FormDialog';
import { Facts } from '../ui/values';
import { changesOf, describe, describeLogo, eventTypes, type Field, type Group, groups, settingOf, withLabels } from './projectSettings';

interface Props {
  project: Schemas['Project'];
  onChanged: () => void;
}

/** The settings of a project in groups, each with a form for those who may change them. */
export function ProjectSettings({ project, onChanged }: Props): ReactElement {
  const may = useMay();
  const mayChange = may('PATCH /projects/{project_id}') && !project.deleted_at;
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      {groups.map((group) => (
        <section className="box" aria-labelledby={`settings-${group.id}`} key={group.id}>
          <div className="box-head">
            <h3 id={`settings-${group.id}`}>{group.title}</h3>
            {mayChange && <ChangeButton project={project} group={group} onChanged={onChanged} />}
          </div>
          <Facts
            rows={[
              ...group.fields.map((field) => [field.label, describe(project.settings, field)] as const),
              group.id === 'brand' && ['Logo', describeLogo(project)],
            ]}
          />
          {group.id === 'brand' && !project.deleted_at && (
            <p className="small quiet">
              A logo is shown in place of the name. An operator sets or removes it with <code>parley project logo</code>.
            </p>
          )}
        </section>
      ))}
      {!mayChange && !project.deleted_at && <p className="small quiet">An operator of this server can change them.</p>}
    </section>
  );
}

function ChangeButton(props: Props & { group: Group }): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="secondary" aria-label={titleOf(props.group)} onClick={() => setOpen(true)}>
        Change
      </button>
      {open && <SettingsForm {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

const titleOf = ({ title }: Group): string => `Change settings: ${title}`;

function SettingsForm({ project, group, onChanged, onClose }: Props & { group: Group; onClose: () => void }): ReactElement {
  const [settings] = useState(project.settings); // as they were when the form opened
  return (
    <FormDialog
      title={titleOf(group)}
      submit="Save the changes"
      onClose={onClose}
      act={async (form) => {
        const body = changesOf(settings, group.fields, form);
        const changed = Object.keys(body).length > 0;
        if (changed) {
          try {
            await call('patch', '/projects/{project_id}', { path: { project_id: project.project_id }, body });
          } catch (error) {
            throw error instanceof ApiError ? error.saying(withLabels(error.message, group.fields)) : error;
          }
        }
        onClose();
        announce(changed ? 'The settings are saved.' : 'Nothing was changed.');
        if (changed) onChanged();
      }}
    >
      <p>{group.note}</p>
      {group.fields.map((field) => (
        <SettingField key={field.name} field={field} settings={settings} />
      ))}
      {group.confirm && (
        <label className="check">
          <input type="checkbox" required />
          {group.confirm}
        </label>
      )}
    </FormDialog>
  );
}

function SettingField({ field, settings }: { field: Field; settings: Schemas['ProjectSettings'] }): ReactElement {
  const { name, label, kind, unit, hint, none, range, maxLength } = field;
  const value = settingOf(settings, field);
  const id = useId();
  if (kind === 'switch') {
    return (
      <label className="check">
        <input type="checkbox" name={name} defaultChecked={value === true} />
        {label}
      </label>
    );
  }
  if (kind === 'events') {
    return (
      <fieldset className="choices">
        <legend>{label}</legend>
        {hint && <p className="small quiet">{hint}</p>}
        {eventTypes.map((type) => (
          <label className="check" key={type}>
            <input type="checkbox" name={name} value={type} defaultChecked={(value as string[]).includes(type)} />
            <code>{type}</code>
          </label>
        ))}
      </fieldset>
    );
  }
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
        {unit && ` (${unit})`} {hint && <span className="hint">{hint}</span>}
      </label>
      {kind === 'lines' ? (
        <textarea id={id} name={name} rows={3} defaultValue={(value as string[]).join('\n')} spellCheck={false} autoComplete="off" />
      ) : (
        <input
          id={id}
          name={name}
          type={kind}
          defaultValue={value === undefined ? '' : String(value)}
          placeholder={none}
          autoComplete="off"
          spellCheck={false}
          {...(range && { min: range[0], max: range[1], step: 1 })}
          {...(maxLength && { maxLength })}
        />
      )}
    </div>
  );
}

/** Changes the name of a project. */
export function RenameProject({ project, onChanged }: Props): ReactElement {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="secondary" onClick={() => setOpen(true)}>
        Rename
      </button>
      {open && (
        <FormDialog
          title="Rename the project"
          submit="Rename the project"
          onClose={() => setOpen(false)}
          act={async (form) => {
            const name = String(form.get('name')).trim();
            await call('patch', '/projects/{project_id}', { path: { project_id: project.project_id }, body: { name } });
            setOpen(false);
            announce('The project is renamed.');
            onChanged();
          }}
        >
          <label className="field">
            <span>Name</span>
            <input name="name" defaultValue={project.name} maxLength={255} required autoComplete="off" />
          </label>
        </FormDialog>
      )}
    </>
  );
}
