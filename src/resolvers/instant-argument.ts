import { instantFrom } from '../model/calendar.js';

/** Parses an argument that names an instant; a bare day means its midnight in the zone of the domain. */
export function instantArgument(written: string | null | undefined, timeZone: string): Date | undefined {
  if (written === undefined || written === null) return undefined;
  const instant = instantFrom(written, timeZone);
  return new Date(instant ?? written);
}
