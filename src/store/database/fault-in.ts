/**
 * What a program of PostgreSQL, or its log, says of why it gave up: the last line that tells of a fault, for
 * what stands behind it tells of tidying up; where none does, the last one.
 */
export function faultIn(output: string): string {
  const lines = output.trim().split('\n');
  const fault = lines.findLast((line) => /FATAL|PANIC|error:|could not/.test(line)) ?? lines.at(-1) ?? '';
  return fault.replace(/\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] +/, '');
}
