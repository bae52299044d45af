/**
 * Returns the code of the catalog from the `type` of a problem (RFC 9457); the status for any other answer.
 */
export function problemCode(problem: { readonly type?: unknown }, status: number): string {
  return /^urn:campus:error:(\w+)$/.exec(String(problem.type))?.[1] ?? String(status);
}
