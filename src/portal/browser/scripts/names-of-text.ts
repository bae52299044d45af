/** The names in a text that has commas between them, each once. */
export function namesOfText(text: string): readonly string[] {
  return [...new Set(text.split(',').map((name) => name.trim()))].filter((name) => name !== '');
}
