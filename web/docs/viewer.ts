// Swagger UI instead of Scalar, because it is one file without hosted services. Scalar
// brings 180 packages and refers to a proxy, fonts and an agent on other hosts.
import SwaggerUI, { type System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './guide';
import './viewer.css';

const nothing = () => () => null;

/**
 * Shows only the text, because a link inside the button that opens an operation confuses
 * assistive technology.
 */
const plain = ({ React }: System) => ({
  components: { DeepLink: ({ text }: { text: string }) => React.createElement('span', null, text) },
});

/** Adds names to the parts of the viewer that have none. */
function name(viewer: HTMLElement) {
  for (const [part, label] of [
    ['.information-container', 'About'],
    ['.scheme-container', 'Server'],
  ] as const) {
    const found = viewer.querySelector(part);
    found?.setAttribute('role', 'region');
    found?.setAttribute('aria-label', label);
  }
  viewer.querySelector('#servers')?.setAttribute('aria-label', 'Server');
  // It follows the webhooks, whose heading is of level 2, so that level 4 would skip a level.
  viewer.querySelector('.models > h4')?.setAttribute('aria-level', '2');
}

const place = document.getElementById('reference');
if (place) {
  SwaggerUI({
    domNode: place,
    url: place.dataset.description,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    // A call needs a signature, which a page without secrets cannot create.
    supportedSubmitMethods: [],
    plugins: [plain, { wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } }],
    onComplete: () => name(place),
    // The validator badge would be loaded from another host.
    validatorUrl: null,
  });
}
