// Swagger UI and not Scalar: one file without hosted services, where that one
// brings 180 packages and names a proxy, fonts and an agent on other hosts.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './guide';
import './viewer.css';

const nothing = () => () => null;

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
    plugins: [{ wrapComponents: { authorizeBtn: nothing, authorizeOperationBtn: nothing } }],
    // The badge would ask another host.
    validatorUrl: null,
  });
}
