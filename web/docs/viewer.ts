// Swagger UI instead of Scalar, because it is one file without hosted services. Scalar
// brings 180 packages and refers to a proxy, fonts and an agent on other hosts.
import SwaggerUI, { type System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import { signedWith } from './signedWith';
import './viewer.css';

const nothing = () => () => null;

/** Returns the text of a heading. Swagger UI calls the operations without a tag "default". */
const groupName = (text: string) => (text === 'default' ? 'Operations' : text);

/**
 * Shows only the text, because a link inside the button that opens an operation confuses
 * assistive technology.
 */
const plain = ({ React }: System) => ({
  components: {
    DeepLink: ({ text }: { text: string }) => React.createElement('span', null, groupName(text)),
  },
});

/** Shows a media type that has no alternative as text instead of a field. */
const mediaTypes = ({ React }: System) => ({
  wrapComponents: {
    contentType: (Choice: unknown) => (props: { contentTypes?: { size: number; first(): string } }) => {
      const { contentTypes } = props;
      if (contentTypes && contentTypes.size > 1) return React.createElement(Choice, props);
      return contentTypes?.size ? React.createElement('code', null, contentTypes.first()) : null;
    },
  },
});

/** Removes what is useful only for calls from this page: the fields of parameters, the servers, and credentials. */
const removed = ['JsonSchemaForm', 'ServersContainer', 'authorizeBtn', 'authorizeOperationBtn'];
const readOnly = { wrapComponents: Object.fromEntries(removed.map((name) => [name, nothing])) };

/** Adds names to the parts of the viewer that have none. */
function name(viewer: HTMLElement) {
  const about = viewer.querySelector('.information-container');
  about?.setAttribute('role', 'region');
  about?.setAttribute('aria-label', 'About');
  viewer.querySelector('.filter-container')?.setAttribute('role', 'search');
  viewer.querySelector('.filter-container')?.setAttribute('aria-label', 'Operations');
  viewer.querySelector('.operation-filter-input')?.setAttribute('aria-label', 'Filter by tag or path');
  // It follows the webhooks, whose heading is of level 2, so that level 4 would skip a level.
  viewer.querySelector('.models > h4')?.setAttribute('aria-level', '2');
}

const place = document.getElementById('reference');
if (place) {
  const viewer = SwaggerUI({
    domNode: place,
    url: place.dataset.description,
    deepLinking: true,
    filter: true,
    defaultModelsExpandDepth: 0,
    // A call needs a signature, which a page without secrets cannot create.
    supportedSubmitMethods: [],
    plugins: [plain, mediaTypes, readOnly, signedWith],
    onComplete: () => name(place),
    // The validator badge would be loaded from another host.
    validatorUrl: null,
  });
  // Swagger UI reads the address only once. A result of the search may lead to another operation of this page.
  addEventListener('hashchange', () => viewer.layoutActions.parseDeepLinkHash(location.hash));
}
