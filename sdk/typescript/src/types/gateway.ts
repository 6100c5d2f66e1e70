import type { components } from '../generated/v5.gen.js';
import type { WithRequestId } from './rooms.js';

type Schemas = components['schemas'];

/** The headers of a response of version 5. */
export interface WithRequestsUsed extends WithRequestId {
  /**
   * The number of validly signed version 5 calls of the organization on this day (UTC), including this one. It is not
   * a quota. Null while it is unavailable.
   */
  requests_used: number | null;
}

/** The API keys of the project: the current one, and the previous one during the overlap of a rotation. */
export type Keys = Schemas['Keys'] & WithRequestsUsed;

/** The usage of the organization, or of the test project, in the current calendar month (UTC). Minutes have two decimals. */
export type Usage = Schemas['Usage'] & WithRequestsUsed;

/** The entitlements of the organization. If `availability` is `unavailable`, the plan is unknown. */
export type Limits = Schemas['Limits'] & WithRequestsUsed;

/** One limit of the plan. */
export type Entitlement = Schemas['Entitlement'];

/** Selects recent calls. */
export interface RequestsRequest {
  /** The size of a page, 1 to 100; absent means the default of the server, 50. All pages are read anyway. */
  limit?: number | undefined;
}

/** A version 5 call as the server saw it. `auth_result` names the true cause of a 401. */
export type RequestItem = Schemas['RequestItem'];

/** A code of an error of version 5. The server may add codes. */
export type ErrorCode = Schemas['ErrorCode'];

/** Selects a description of the API. */
export interface OpenApiRequest {
  /** 3 and 4 are YAML, 5 is JSON. */
  version: 3 | 4 | 5;
}
