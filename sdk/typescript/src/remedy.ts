import type { Signer } from './credentials.js';

/** What is known about a failed call. */
export interface Failure {
  status: number;
  request_id: string;
  signer?: Signer;
  /** Whether the client has a project secret, which signs bodies instead of the API key. */
  hasProjectSecret?: boolean;
  code?: string;
  message?: string;
  attempts?: number;
  /** Whether the request had a client_room_id. */
  clientRoomId?: boolean;
}

/** Returns what to do about a response; empty if there is no advice. The SDKs of all languages have the same texts. */
export function remedyFor(failure: Failure): string {
  const { status, request_id, signer, code, message, attempts } = failure;
  if (status >= 300 && status < 400) return 'Use the address that the server redirects to as the base URL.';
  if (request_id === '') {
    return 'The response does not come from a Parley server. Check the base URL and the proxy in front of the server.';
  }
  if (status === 401 && signer === 'gateway') {
    return (
      'Check that api_key and gateway_secret belong together and that the key has not been replaced. ' +
      'The request log of the project names the cause.'
    );
  }
  if (status === 401 && signer === 'project' && !failure.hasProjectSecret) {
    return (
      'Check that project_id and api_key belong together and that the key has not been replaced. ' +
      'If the project has the setting require_secret_signatures, pass project_secret to the client.'
    );
  }
  if (status === 401 && (signer === 'project' || signer === 'project_secret')) {
    return 'Check that project_id and project_secret belong together and that the secret has not been replaced.';
  }
  if (status === 403 && (code === 'SVC_GATEWAY_PROJECT_SUSPENDED' || message?.endsWith('suspended'))) {
    return 'Ask the operator of the server why the project is suspended.';
  }
  if (status === 403 && message === 'the project is inactive')
    return 'Activate the project with update_project_status.';
  if (status === 404 && code === 'SVC_GATEWAY_DISABLED') return 'Ask the operator of the server to enable version 5.';
  if (status === 409 && failure.clientRoomId && attempts !== undefined && attempts > 1) {
    return 'An earlier attempt may have created the room. Look for client_room_id in the list of rooms.';
  }
  if (status === 410) return 'Use version 4 of the API.';
  return '';
}
