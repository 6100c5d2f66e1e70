// Swagger UI and not Scalar: one file without hosted services, where that one
// brings 180 packages and names a proxy, fonts and an agent on other hosts.
import SwaggerUI, { type System } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './guide';
import './viewer.css';

const nothing = () => () => null;

/** Its text alone: a link inside the button that opens an operation confuses assistive software. */
const plain = ({ React }: System) => ({
  components: { DeepLink: ({ text }: { text: string }) => React.createElement('span', null, text) },
});

/** Names the parts that the viewer leaves without. */
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
  // Behind the webhooks, whose heading is of the second level, it would skip one.
  viewer.querySelector('.models > h4')?.setAttribute('aria-level', '2');
}

const place = document.getElementById('reference');
if (place) {
  SwaggerUI({
    domNode: place,
    url: place.dataset.description,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    // Calls need a signature, which a page without secrets cannot make;
    // so nobody is asked for one either.
    supportedSubmitMethods: [],
    plugins: [plain, { wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } }],
    onComplete: () => name(place),
    // The badge would ask another host.
    validatorUrl: null,
  });
}
