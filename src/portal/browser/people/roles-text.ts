/** The roles of a text in which commas stand between them. */
export function rolesOfText(text: string): readonly string[] {
  return [...new Set(text.split(',').map((role) => role.trim()))].filter((role) => role !== '');
}
