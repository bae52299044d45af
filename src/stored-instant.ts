const STORED_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * Whether a text is an instant written as the store writes it, `2026-07-01T03:05:00.000Z`, and there is such
 * a one: of a 30 February, `Date` makes another day. Ten times as quick as to ask Temporal.
 */
export function isStoredInstant(text: string): boolean {
  if (!STORED_INSTANT.test(text)) return false;
  const milliseconds = Date.parse(text);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString() === text;
}
