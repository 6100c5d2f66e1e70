import { checkBetween, checkObject, checkRoomId, encodeBody, invalid } from './arguments.js';
import { bytesOf, toBase64Url, toHex } from './encoding.js';
import { hmac } from './sign.js';
import type { JoinLinkRequest, JoinLinkRole } from './types/meetings.js';

/** The only header: HMAC-SHA256. The server accepts no other algorithm. */
const header = '{"alg":"HS256","typ":"JWT"}';

const roles: readonly unknown[] = ['host', 'cohost', 'guest'];
/** How long a link may wait for its first use by default, in seconds. */
const defaultAge = 3600;
/** The longest time between the issue and the expiry of a link, in seconds. */
const maxAge = 86_400;
/** The size of the random ID of a link, in bytes. */
const idSize = 16;

/** The claims of a signed join link. An optional claim that is absent or empty is left out. */
export interface JoinLinkClaims {
  /** The UUID of the room. */
  room_id: string;
  role: JoinLinkRole;
  /** The display name that the page fills in, at most 255 characters. */
  name?: string | null | undefined;
  /** Your own ID of the person, at most 255 characters. */
  user_id?: string | null | undefined;
  /** Whether the link admits only the first browser that joins with it. A link for a host or co-host always does so. */
  single_use?: boolean | null | undefined;
  /** Distinguishes links that are equal otherwise. Required for a single-use link, and so for each link of a host or co-host. */
  jti?: string | null | undefined;
  /** The time of the issue in Unix seconds. */
  iat: number;
  /** The time of the expiry in Unix seconds, 1 to 86,400 after `iat`. */
  exp: number;
}

/**
 * Returns a signed join link as a JSON Web Token, signed with the project secret as shown. It goes behind
 * `/r/ROOM_ID#j=` in the address. Rejects with InvalidArgumentError for an empty secret and for a claim that cannot be
 * used.
 */
export async function signJoinLink(project_secret: string, claims: JoinLinkClaims): Promise<string> {
  const signed = `${toBase64Url(bytesOf(header))}.${toBase64Url(encodeBody(checkClaims(claims)))}`;
  return `${signed}.${toBase64Url(await hmac(bytesOf(project_secret), bytesOf(signed)))}`;
}

/** Returns the claims of a new link. `now` is the time by the clock of the server in milliseconds. */
export function joinLinkClaims(link: JoinLinkRequest, now: number): JoinLinkClaims {
  const { room_id, role, name, user_id, single_use, expires_in, ...others } = checkObject(link);
  refuseOthers(others);
  const age = checkBetween('expires_in', expires_in ?? defaultAge, 1, maxAge);
  const jti = toHex(crypto.getRandomValues(new Uint8Array(idSize)));
  const iat = Math.floor(now / 1000);
  return { room_id, role: role ?? 'guest', name, user_id, single_use, jti, iat, exp: iat + age };
}

/** Returns the claims to sign, without those that are absent or empty. */
function checkClaims(claims: JoinLinkClaims): object {
  checkRoomId(claims);
  const { room_id, role, name, user_id, single_use, jti, iat, exp, ...others } = claims;
  refuseOthers(others);
  if (!roles.includes(role)) throw invalid('role must be "host", "cohost" or "guest"');
  if (typeof (single_use ?? false) !== 'boolean') throw invalid('single_use must be a boolean');
  if ((single_use || role !== 'guest') && !jti)
    throw invalid('jti must not be empty for a host, a co-host or a single-use link');
  if (!Number.isSafeInteger(iat)) throw invalid('iat must be an integer');
  checkBetween('exp', exp, iat + 1, iat + maxAge);
  return {
    room_id,
    role,
    name: optionalText('name', name),
    user_id: optionalText('user_id', user_id),
    single_use: single_use || undefined,
    jti: optionalText('jti', jti),
    iat,
    exp,
  };
}

/** Returns an optional text of at most 255 code points, undefined without one. */
function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || !/^\P{Surrogate}{0,255}$/u.test(value)) {
    throw invalid(`${name} must be a string of at most 255 Unicode characters`);
  }
  return value || undefined;
}

function refuseOthers(others: object): void {
  const [name] = Object.keys(others);
  if (name !== undefined) throw invalid(`a join link has no field ${name}`);
}
