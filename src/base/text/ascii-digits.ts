/** Every decimal digit but those of ASCII. */
const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;

/** A text with its digits as ASCII has them, whichever script they are typed in: `१२` is `12`. */
export function withAsciiDigits(text: string): string {
  // Few texts have other digits, and looking for them is slow.
  return isAscii(text) ? text : text.replaceAll(OTHER_DIGIT, asciiDigit);
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

function asciiDigit(digit: string): string {
  // Wide and mathematical digits are those of ASCII in another style.
  const plain = digit.normalize('NFKC');
  return plain === digit ? String(valueOfDigit(digit)) : plain;
}

/** The digits of a script have consecutive code points. */
function valueOfDigit(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return code - zero;
}
