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
