import { parse } from 'lossless-json';

/**
 * Returns the position at which a text stops being JSON, with line and column from 1; the end of a valid
 * text. The messages of browsers differ, and newer ones contain no position.
 */
export function findJsonFault(text: string): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, positionOfFault(text)).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}

function positionOfFault(text: string): number {
  try {
    parse(text);
    return text.length;
  } catch (fault) {
    return Number(/ at position (\d+)$/.exec(String(fault))?.[1] ?? text.length);
  }
}

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
