import type { ReactElement } from 'react';
import { call, type Schemas } from '../api/client';
import { useGet } from '../api/useGet';
import { useMore } from '../api/useMore';
import { href, navigate } from '../router';
import { useMay } from '../state/context';
import { ActionButton } from '../ui/Confirm';
import { Id } from '../ui/Copy';
import { Link } from '../ui/Link';
import { Loading } from '../ui/List';
import { MoreButton } from '../ui/MoreButton';
import { PageHead } from '../ui/PageHead';
import { ErrorBox } from '../ui/states';
import { Facts, Time } from '../ui/values';
import { CreateProject } from './CreateProject';
import { billingText, OrganizationState } from './Organizations';
import { ProjectTable } from './Projects';
import { SuspensionButton } from './Suspension';

type Organization = Schemas['Organization'];

/** The largest page of projects. */
const pageSize = 100;

/** One organization: its projects, its suspension and deletion. */
export function OrganizationPage({ id }: { id: string }): ReactElement {
  const organization = useGet('/organizations/{organization_id}', { path: { organization_id: id } });
  const list = useMore('/projects', { query: { organization_id: id, limit: pageSize } });
  const { first, rest, error, retry } = list;
  const projects = first.data && [first.data, ...rest].flatMap(({ projects }) => projects);
  const above = <Link to={href('organizations')}>Organizations</Link>;
  if (!organization.data) {
    return (
      <>
        <PageHead title="Organization" above={above} />
        {organization.error ? <ErrorBox error={organization.error} retry={organization.reload} /> : <Loading />}
      </>
    );
  }
  const one = organization.data;
  const changed = (): void => {
    organization.reload();
    first.reload(); // its projects are suspended and resumed with it
  };
  return (
    <>
      <PageHead
        title={one.name}
        above={above}
        actions={
          <>
            {!one.suspended && <CreateProject organization={one} onDone={first.reload} />}
            <OrganizationActions organization={one} isEmpty={projects?.length === 0} onDone={changed} />
          </>
        }
      >
        <OrganizationState organization={one} />
      </PageHead>
      <section className="box" aria-label="Facts">
        <Facts
          rows={[
            ['Organization ID', <Id key="id" id={one.organization_id} what="organization ID" full />],
            ['Created', <Time key="created" at={one.created_at} />],
            one.suspended_at !== undefined && ['Suspended', <Time key="suspended" at={one.suspended_at} />],
            ['Billing', billingText[one.billing]],
            ['Plan', one.plan || 'Default'],
            ['Price of a participant minute', one.unit_price ? `${one.unit_price} ${one.currency}` : 'None'],
            [
              'Usage',
              <Link key="usage" to={href('usage', null, { organization: id })}>
                Show the usage
              </Link>,
            ],
          ]}
        />
        <p className="small quiet">
          An operator changes the name, the plan and the price with <code>parley org set</code>.
        </p>
      </section>
      <section>
        <h2>Projects</h2>
        {first.error && <ErrorBox error={first.error} retry={first.reload} />}
        {!projects && !first.error && <Loading />}
        {projects?.length === 0 && <p className="quiet">The organization has no projects. An owner can delete it.</p>}
        {projects && projects.length > 0 && <ProjectTable projects={projects} />}
        {error && <ErrorBox error={error} retry={retry} />}
        <MoreButton list={list}>Show more projects</MoreButton>
      </section>
    </>
  );
}

interface ActionsProps {
  organization: Organization;
  /** Whether it has no projects. It can be deleted only if it has none. */
  isEmpty: boolean;
  onDone: () => void;
}

function OrganizationActions({ organization: { organization_id, name, suspended }, isEmpty, onDone }: ActionsProps): ReactElement {
  const may = useMay();
  const path = { organization_id };
  return (
    <>
      {may(`POST /organizations/{organization_id}/${suspended ? 'resume' : 'suspend'}`) && (
        <SuspensionButton
          what="organization"
          suspended={suspended}
          onDone={onDone}
          change={(body) =>
            suspended
              ? call('post', '/organizations/{organization_id}/resume', { path })
              : call('post', '/organizations/{organization_id}/suspend', { path, body })
          }
        >
          {suspended ? (
            <>
              The projects of <strong>{name}</strong> can create rooms again, and people can join them. Projects that were suspended
              individually stay suspended.
            </>
          ) : (
            <>
              All projects of <strong>{name}</strong> are suspended: their backends can then create no rooms, and nobody can join their
              rooms.
            </>
          )}
        </SuspensionButton>
      )}
      {isEmpty && may('DELETE /organizations/{organization_id}') && (
        <ActionButton
          title="Delete the organization"
          className="secondary danger-text"
          final
          typed={name}
          onDone={() => navigate(href('organizations'))}
          act={async () => {
            await call('delete', '/organizations/{organization_id}', { path });
            return 'The organization and its usage are deleted.';
          }}
        >
          <p>
            <strong>{name}</strong> and its usage are deleted permanently. Nobody can undo this.
          </p>
        </ActionButton>
      )}
    </>
  );
}
