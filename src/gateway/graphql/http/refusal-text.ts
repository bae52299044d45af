import type { ErrorCode } from '../../../base/errors.js';

/** Errors that Apollo reports only by HTTP status, with the code of a bad request. */
const CODES_BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
]);

/**
 * Completes errors that Apollo reports before there is a context (a batch, a request that a form could have
 * sent): adds the request id, and the status and code of our catalog.
 *
 * @see decisions 4
 */
export function refusalText(status: number, text: string, requestId: string): string {
  const result: unknown = JSON.parse(text);
  if (!hasErrors(result)) return text;
  const code = CODES_BY_STATUS.get(status);
  const errors = result.errors.map((error) => ({
    ...error,
    extensions: { ...error.extensions, ...(code && { code, status }), requestId },
  }));
  return JSON.stringify({ ...result, errors });
}

function hasErrors(
  result: unknown,
): result is { readonly errors: readonly { readonly extensions?: Record<string, unknown> }[] } {
  return typeof result === 'object' && result !== null && 'errors' in result && Array.isArray(result.errors);
}
