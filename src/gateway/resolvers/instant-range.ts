import { invalidAt } from '../../base/errors.js';
import { instantFrom } from '../../base/model/calendar.js';

interface InstantRange<Instant> {
  readonly from: Instant;
  readonly until: Instant;
}

/** Parses the arguments `from` and `until`. @throws INVALID_VALUE (400) for an end before its start */
export function instantRange(
  sent: Partial<InstantRange<string | null | undefined>>,
  timeZone: string,
): InstantRange<Date | undefined> {
  const from = instantArgument(sent.from, timeZone);
  const until = instantArgument(sent.until, timeZone);
  if (from === undefined || until === undefined || from <= until) return { from, until };
  const detail = `until is ${sent.until}, before from ${sent.from}; expected the same or later.`;
  throw invalidAt(detail, {
    parameter: 'until',
    expected: `${sent.from} or later`,
    sent: sent.until ?? null,
  });
}

/** Parses an argument that names an instant; a bare day means its midnight in the zone of the domain. */
function instantArgument(written: string | null | undefined, timeZone: string): Date | undefined {
  if (written === undefined || written === null) return undefined;
  const instant = instantFrom(written, timeZone);
  return new Date(instant ?? written);
}
