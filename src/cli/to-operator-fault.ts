/**
 * Distinguishes a fault of ours from what the machine, the network or the database refuses: the second is one
 * line for the operator, and the only table that says which errors those are.
 */
import { constants } from 'node:os';
import { isNativeError } from 'node:util/types';
import { ServiceError } from '../base/errors.js';
import { redactSecrets } from '../gateway/server/redact-secrets.js';
import { translateDatabaseError } from '../store/database/database-errors.js';

/** Refusals of the system that only a mistake in our code can cause. */
const OF_OURS: ReadonlySet<string> = new Set(['EBADF', 'EFAULT', 'EINVAL', 'ENOTSOCK', 'ENOSYS']);
const OF_RESOLVER = /^(?:E?AI_|ENOTFOUND$|ENODATA$|ESERVFAIL$|ETIMEOUT$)/;
/** Codes of OpenSSL and of Node for certificates and handshakes. */
const OF_TLS =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|DEPTH_ZERO_SELF|SELF_SIGNED_|CERT_|HOSTNAME_MISMATCH$)/;
/**
 * The classes of PostgreSQL's errors that say something about the server, its settings, its disk or the
 * rights of the user; the others say that a statement of ours is wrong.
 */
const OF_SERVER = /^(?:08|0A000$|25006$|28|3D|3F|42501$|53|54|55P|57|58|F0|XX00[12]$)/;

/**
 * The fault as a `ServiceError` whose message is one line for the operator, if it or one of its causes is a
 * refusal of the system, of TLS or of PostgreSQL; anything else unchanged.
 */
export function toOperatorFault(fault: unknown): unknown {
  if (!isNativeError(fault)) return fault;
  if (fault instanceof ServiceError) return fault.status === 503 ? withReason(fault) : fault;
  const refusal = findRefusal(fault);
  if (refusal === undefined) return fault;
  // `fetch failed`, and an error for several addresses, say nothing themselves.
  const isEmpty = fault.message === '' || fault.message === 'fetch failed' || 'errors' in fault;
  const line = lineOf(isEmpty ? refusal : fault);
  return new ServiceError('UNAVAILABLE', line, { cause: fault });
}

/** For a caller it is enough that the database is out of reach; an operator must know why. */
function withReason(fault: ServiceError): ServiceError {
  const refusal = findRefusal(fault.cause);
  const reason = refusal && lineOf(refusal);
  const general = translateDatabaseError(fault.cause);
  if (reason === undefined || !(general instanceof ServiceError && general.message === fault.message)) {
    return fault;
  }
  return new ServiceError(fault.code, `${fault.message} (${reason})`, { cause: fault });
}

function findRefusal(error: unknown): Error | undefined {
  for (let depth = 0, one = error; depth < 8 && isNativeError(one); depth++) {
    const code: unknown = 'code' in one ? one.code : undefined;
    if (typeof code === 'string' && isRefusal(one, code)) return one;
    // A name with several addresses fails with an error for each.
    one = 'errors' in one && Array.isArray(one.errors) ? one.errors[0] : one.cause;
  }
  return undefined;
}

function isRefusal(error: Error, code: string): boolean {
  if ('severity' in error) return OF_SERVER.test(code);
  if (code in constants.errno) return !OF_OURS.has(code);
  return OF_RESOLVER.test(code) || OF_TLS.test(code);
}

function lineOf(error: Error): string {
  const hint = 'hint' in error && typeof error.hint === 'string' ? ` (${error.hint})` : '';
  return redactSecrets(`${error.message}${hint}`).replaceAll(/(?<!\s)\s*\n\s*/g, ' ');
}
