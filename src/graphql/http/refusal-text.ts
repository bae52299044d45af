import type { ErrorCode } from '../../errors.js';

/** What Apollo refuses by HTTP alone, and calls a bad request in its answer. */
const CODES_BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [405, 'METHOD_NOT_ALLOWED'],
  [406, 'NOT_ACCEPTABLE'],
]);

/**
 * What Apollo refuses before there is a context (a batch, a request a form could have sent) has no request id
 * yet, and where HTTP says more than that it is a bad request, neither the status nor the code of that.
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
