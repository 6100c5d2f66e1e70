import type { ReactElement } from 'react';
import { href, type Route } from '../router';
import { Link } from '../ui/Link';
import { PageHead } from '../ui/PageHead';
import { Audit } from './Audit';
import { DeliveryPage } from './DeliveryPage';
import { Nodes } from './Nodes';
import { OrganizationPage } from './OrganizationPage';
import { OrganizationList } from './Organizations';
import { Overview } from './Overview';
import { ProjectPage } from './ProjectPage';
import { ProjectList } from './Projects';
import { RequestPage } from './RequestPage';
import { Requests } from './Requests';
import { RoomPage } from './RoomPage';
import { Rooms } from './Rooms';
import { Settings } from './Settings';
import { Signature } from './Signature';
import { Team } from './Team';
import { Usage } from './Usage';
import { Webhooks } from './Webhooks';

/** The page of an address. */
export function PageOf({ route }: { route: Route | null }): ReactElement {
  switch (route?.page) {
    case 'requests':
      // The key, because a search in one project continues otherwise than one in all.
      return route.id === null ? (
        <Requests query={route.query} />
      ) : (
        <RequestPage key={route.query.project} id={route.id} project={route.query.project} />
      );
    case 'rooms':
      return route.id === null ? <Rooms query={route.query} /> : <RoomPage id={route.id} project={route.query.project} />;
    case 'projects':
      return route.id === null ? <ProjectList query={route.query} /> : <ProjectPage id={route.id} />;
    case 'organizations':
      return route.id === null ? <OrganizationList query={route.query} /> : <OrganizationPage id={route.id} />;
    case 'webhooks':
      return route.id === null ? <Webhooks query={route.query} /> : <DeliveryPage id={route.id} project={route.query.project} />;
    case 'usage':
      return <Usage query={route.query} />;
    case 'audit':
      return <Audit query={route.query} />;
    case 'overview':
      return <Overview project={route.query.project} />;
    case 'nodes':
      return <Nodes />;
    case 'settings':
      return <Settings query={route.query} />;
    case 'team':
      return <Team query={route.query} />;
    case 'signature':
      return <Signature query={route.query} />;
    default:
      return <NoSuchPage />;
  }
}

function NoSuchPage(): ReactElement {
  return (
    <>
      <PageHead title="There is no such page">The address may be cut off, or from another version.</PageHead>
      <p>
        <Link to={href('overview')}>Open the overview</Link>
      </p>
    </>
  );
}
