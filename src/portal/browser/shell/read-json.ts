/** The value of a JSON text; `undefined` for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type ObjectOfJson = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is ObjectOfJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object of a JSON text; `undefined` for a text that is not a JSON object. */
export function readJsonObject(text: string): ObjectOfJson | undefined {
  const value = readJson(text);
  return isObject(value) ? value : undefined;
}

/** JSON in lines, for people; `undefined` for a text that is not JSON. */
export function indentJson(text: string): string | undefined {
  const value = readJson(text);
  return value === undefined ? undefined : JSON.stringify(value, null, 2);
}
