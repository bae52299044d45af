/** The distinct names in a comma-separated text. */
export function namesOfText(text: string): readonly string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}
