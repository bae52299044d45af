/**
 * Extracts the reason why a PostgreSQL program failed from its output or log: the last line that reports an
 * error, because lines after it report the clean-up; if there is none, the last line.
 */
export function faultIn(output: string): string {
  const lines = output.trim().split('\n');
  const fault = lines.findLast((line) => /FATAL|PANIC|error:|could not/.test(line)) ?? lines.at(-1) ?? '';
  return fault.replace(/\d{4}-\d\d-\d\d [\d:.]+ \S+ \[\d+\] +/, '');
}
