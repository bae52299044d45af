/** Whether a text is a day, a month or an instant. A text in an address may be anything. */
export function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
