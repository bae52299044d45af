/** The zeros of the digits that are written in India, and of the wide ones that come with pasted texts. */
const ZEROS = [
  ...[0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66],
  ...[0x0660, 0x06f0, 0xff10],
];

/** A text with its digits as ASCII has them, whichever script they are typed in: `१२` is `12`. */
export function withAsciiDigits(text: string): string {
  return text.replaceAll(/\p{Nd}/gu, asciiDigit);
}

function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  const zero = ZEROS.find((one) => code >= one && code < one + 10);
  return zero === undefined ? digit : String(code - zero);
}
