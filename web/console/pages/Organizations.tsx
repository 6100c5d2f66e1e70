import { type ReactElement, useState } from 'react';
import { call, type Schemas } from '../api/client';
import { useMore } from '../api/useMore';
import { href } from '../router';
import { useMay } from '../state/context';
import { announce } from '../ui/announce';
import { Id } from '../ui/Copy';
import { Filters, TextFilter } from '../ui/Filters';
import { FormDialog } from '../ui/FormDialog';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { MoreButton } from '../ui/MoreButton';
import { PageHead } from '../ui/PageHead';
import { Empty, ErrorBox } from '../ui/states';
import { Table } from '../ui/Table';
import { Status, Time } from '../ui/values';

type Organization = Schemas['Organization'];

export function OrganizationState({ organization: { suspended } }: { organization: Organization }): ReactElement {
  return suspended ? <Status tone="bad">Suspended</Status> : <Status tone="good">Active</Status>;
}

export const billingText: Record<Schemas['Billing'], string> = { plan: 'By plan', payg: 'Pay as you go' };

/** The largest page of organizations. */
const pageSize = 100;

/** The organizations, the oldest first, or those that a search finds. */
export function OrganizationList({ query: { name } }: { query: Readonly<Record<string, string>> }): ReactElement {
  const may = useMay();
  const list = useMore('/organizations', { query: { limit: pageSize, ...(name && { search: name }) } }, !name);
  const { first, rest, error, retry } = list;
  const [creating, setCreating] = useState(false);
  const rows = first.data && [first.data, ...rest].flatMap(({ organizations }) => organizations);
  const isEmpty = rows?.length === 0 && !first.loading && !list.loadMore && !list.loadingMore;
  const create = may('POST /organizations') && (
    <button type="button" className="primary" onClick={() => setCreating(true)}>
      Create an organization
    </button>
  );
  return (
    <>
      <PageHead title="Organizations" actions={create}>
        An organization pays for the usage of its projects.
      </PageHead>
      <Filters active={name ? ['name'] : []}>
        <TextFilter name="name" label="Name or ID" value={name} wide />
      </Filters>
      {first.error && <ErrorBox error={first.error} retry={first.reload} />}
      {!rows && !first.error && <Loading />}
      {isEmpty && name && (
        <Empty title="No organization matches">
          <p>Search for a part of the name, or for the whole organization ID.</p>
        </Empty>
      )}
      {isEmpty && !name && (
        <Empty title="No organizations yet" command="parley org create --name NAME --billing plan">
          <p>Create an organization for each customer or team that pays for its usage, then its projects.</p>
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          label="Organizations"
          rows={rows}
          keyOf={({ organization_id }) => organization_id}
          columns={[
            {
              head: 'Organization',
              wide: true,
              cell: ({ organization_id, name }) => (
                <Link className="row-link" to={href('organizations', organization_id)}>
                  {name}
                </Link>
              ),
            },
            { head: 'State', cell: (organization) => <OrganizationState organization={organization} /> },
            { head: 'Billing', cell: ({ billing }) => billingText[billing] },
            { head: 'Organization ID', cell: ({ organization_id }) => <Id id={organization_id} what="organization ID" /> },
            { head: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
          ]}
        />
      )}
      {error && <ErrorBox error={error} retry={retry} />}
      <MoreButton list={list}>Show more organizations</MoreButton>
      {creating && (
        <NewOrganization
          onCreated={() => {
            setCreating(false);
            announce('The organization is created.');
            first.reload();
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
}

function NewOrganization({ onCreated, onClose }: { onCreated: () => void; onClose: () => void }): ReactElement {
  return (
    <FormDialog
      title="Create an organization"
      submit="Create the organization"
      onClose={onClose}
      act={async (form) => {
        await call('post', '/organizations', {
          body: { name: String(form.get('name')).trim(), billing: String(form.get('billing')) as Schemas['Billing'] },
        });
        onCreated();
      }}
    >
      <label className="field">
        <span>Name</span>
        <input name="name" maxLength={255} required autoComplete="off" />
      </label>
      <label className="field">
        <span>Billing, which cannot be changed later</span>
        <select name="billing">
          {Object.entries(billingText).map(([billing, text]) => (
            <option key={billing} value={billing}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </FormDialog>
  );
}
