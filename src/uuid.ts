/** Whether a text is a UUID as Postgres prints and takes one, of any version. @see RFC 9562, section 4 */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
