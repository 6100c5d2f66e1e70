import type { Credentials } from './credentials.js';
import { readCredentials } from './credentials.js';
import { InvalidArgumentError } from './errors.js';
import { VERSION } from './version.js';

/** The version of the routes that versions 3 and 4 both have. */
export type ApiVersion = 3 | 4;

/**
 * The options of a client. The names of the credentials and of `base_url` are those of `quickstart.json`, so that its
 * content can be passed as it is. Other fields are ignored.
 */
export interface ClientOptions {
  /**
   * Scheme and host of the server, such as https://meet.example.org. It has no path, because version 5 signs the path
   * that the server sees. Use http only on trusted networks.
   */
  base_url: string;
  /** The UUID of the project. Creations and the status of the project need it. */
  project_id?: string | undefined;
  /** Signs creations, the status of the project, join events and join links. The last two need this one. */
  project_secret?: string | undefined;
  /** Belongs to `gateway_secret`. It signs creations and the status of the project if there is no project secret. */
  api_key?: string | undefined;
  /** Signs version 5 and the calls that run a meeting. */
  gateway_secret?: string | undefined;
  /** The time limit of one attempt in seconds, above 0 and at most 86,400. 30 by default. */
  timeout?: number | undefined;
  /**
   * The maximum number of attempts of a call, 1 or more. 3 by default. An attempt after a correction of the clock is
   * not counted.
   */
  max_attempts?: number | undefined;
  /** The version of the routes that versions 3 and 4 both have. 4 by default. */
  version?: ApiVersion | undefined;
  /** The header User-Agent, printable ASCII. It is shown in the list of requests of the project. */
  user_agent?: string | undefined;
}

/** The options of a client that have nothing to do with its server and its project. */
export type CommonOptions = Pick<ClientOptions, 'timeout' | 'max_attempts' | 'version' | 'user_agent'>;

/** Adds the settings of the environment to options. Throws InvalidArgumentError without PARLEY_URL. */
export function optionsOfEnvironment(options: CommonOptions): ClientOptions {
  // Node, Deno and Bun have this object without an import, which other runtimes do not have.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const environment = process?.env ?? {};
  const base_url = environment.PARLEY_URL;
  if (!base_url) throw invalid('set PARLEY_URL to the address of the server, such as https://meet.example.org');
  return {
    ...options,
    base_url,
    project_id: environment.PARLEY_PROJECT_ID,
    project_secret: environment.PARLEY_PROJECT_SECRET,
    api_key: environment.PARLEY_API_KEY,
    gateway_secret: environment.PARLEY_GATEWAY_SECRET,
  };
}

/** The checked options of a client. */
export interface Settings {
  /** Scheme and host, without a slash at the end. */
  base: string;
  credentials: Credentials;
  /** In milliseconds. */
  timeout: number;
  maxAttempts: number;
  version: ApiVersion;
  userAgent: string;
}

/** Checks the options of a client. Throws InvalidArgumentError. */
export function readOptions(options: ClientOptions): Settings {
  if (typeof options !== 'object' || options === null) throw invalid('the client needs an object with base_url');
  const { timeout = 30, max_attempts = 3, version = 4, user_agent = `parley-typescript/${VERSION}` } = options;
  const base = readBaseUrl(options.base_url);
  const credentials = readCredentials(options);
  if (typeof timeout !== 'number' || !(timeout > 0 && timeout <= 86_400)) {
    throw invalid('timeout must be a number of seconds above 0 and at most 86400');
  }
  if (!Number.isSafeInteger(max_attempts) || max_attempts < 1) {
    throw invalid('max_attempts must be an integer, 1 or more');
  }
  if (version !== 3 && version !== 4) throw invalid('version must be 3 or 4');
  if (typeof user_agent !== 'string' || !/^[!-~]([ -~]*[!-~])?$/.test(user_agent)) {
    throw invalid('user_agent must be printable ASCII without a space at the start or the end');
  }
  return { base, credentials, timeout: timeout * 1000, maxAttempts: max_attempts, version, userAgent: user_agent };
}

/** Returns scheme and host. Its errors do not repeat the URL, because it may contain a password. */
function readBaseUrl(text: unknown): string {
  // URL also reads texts with white space, with backslashes or with one slash, so the form is checked first.
  const form = /^https?:\/\/([^\s/\\?#]+)(.*)$/is.exec(typeof text === 'string' ? text : '');
  if (!form) throw invalid('base_url must be an absolute http or https URL');
  const [whole, host = '', rest] = form;
  if (host.includes('@')) throw invalid('base_url must not contain a user or password');
  if (rest !== '' && rest !== '/') throw invalid('base_url must not have a path, query or fragment');
  let url: URL;
  try {
    url = new URL(whole);
  } catch {
    throw invalid('base_url is not a valid URL');
  }
  return url.origin;
}

function invalid(message: string): InvalidArgumentError {
  return new InvalidArgumentError({ message });
}
