/** JSON is read and written by recursive functions: unlimited nesting would exhaust their stack. */

/** The service neither accepts nor produces a value that is nested deeper. */
export const MAX_JSON_DEPTH = 500;

/** Whether JSON text is nested at least `most` levels deep. Scans the text once, without recursion. */
export function isNestedDeeply(text: string, most = MAX_JSON_DEPTH): boolean {
  // Every level takes a character to open it.
  if (text.length <= most) return false;
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInText) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > most) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
