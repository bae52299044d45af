/** The code of the catalog in the `type` of a problem (RFC 9457); of anything else, its status. */
export function problemCode(problem: { readonly type?: unknown }, status: number): string {
  return /^urn:campus:error:(\w+)$/.exec(String(problem.type))?.[1] ?? String(status);
}
