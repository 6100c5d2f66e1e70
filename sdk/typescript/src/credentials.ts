import { InvalidArgumentError, MissingCredentialError } from './errors.js';

const names = ['project_id', 'project_secret', 'api_key', 'gateway_secret'] as const;

/** The name of a credential. */
export type CredentialName = (typeof names)[number];

/** The credentials of one project, exactly as shown to its owner. An absent credential is an empty text. */
export type Credentials = Readonly<Record<CredentialName, string>>;

const kinds: readonly { prefix: string; name: CredentialName; noun: string }[] = [
  { prefix: 'pk_', name: 'api_key', noun: 'an API key' },
  { prefix: 'gs_', name: 'gateway_secret', noun: 'a Gateway secret' },
  { prefix: 'whsec_', name: 'project_secret', noun: 'a project secret' },
];

/** Reads the credentials from the options of a client. Its errors do not repeat a value. */
export function readCredentials(options: Partial<Record<CredentialName, unknown>>): Credentials {
  const credentials = { project_id: '', project_secret: '', api_key: '', gateway_secret: '' };
  for (const name of names) credentials[name] = readCredential(name, options[name] ?? '');
  return credentials;
}

function readCredential(name: CredentialName, value: unknown): string {
  if (typeof value !== 'string') throw new InvalidArgumentError({ message: `${name} must be a string` });
  const position = value.search(/[^!-~]/);
  if (position >= 0) {
    throw new InvalidArgumentError({
      message: `${name} must be printable ASCII without spaces, but has another character at position ${position + 1}`,
    });
  }
  for (const kind of kinds) {
    if (kind.name !== name && value.startsWith(kind.prefix)) {
      throw new InvalidArgumentError({ message: `${name} begins with ${kind.prefix}, so it is ${kind.noun}` });
    }
  }
  return value;
}

/** What signs a call: the project secret or else the API key, only the project secret, or the Gateway secret. */
export type Signer = 'none' | 'project' | 'project_secret' | 'gateway';

/** Returns the key that signs a call; empty for `none`. Throws MissingCredentialError if a credential is missing. */
export function signingKey(credentials: Credentials, signer: Signer): string {
  switch (signer) {
    case 'none':
      return '';
    case 'project':
      required(credentials, 'project_id');
      // A project can be set to refuse API keys, so the project secret comes first.
      if (!credentials.project_secret && !credentials.api_key) throw missing('project_secret or api_key');
      return credentials.project_secret || credentials.api_key;
    case 'project_secret':
      return required(credentials, 'project_secret');
    case 'gateway':
      required(credentials, 'api_key');
      return required(credentials, 'gateway_secret');
  }
}

function required(credentials: Credentials, name: CredentialName): string {
  if (!credentials[name]) throw missing(name);
  return credentials[name];
}

function missing(field: string): MissingCredentialError {
  return new MissingCredentialError({
    message: `the call needs ${field}`,
    remedy: `Pass ${field} to the client.`,
  });
}

/** Replaces the credentials in a text that a server wrote, because a server may repeat what it received. */
export function redact(credentials: Credentials, text: string): string {
  const secrets = [credentials.api_key, credentials.gateway_secret, credentials.project_secret];
  let redacted = text;
  for (const secret of secrets) if (secret) redacted = redacted.replaceAll(secret, '[redacted]');
  return redacted;
}
