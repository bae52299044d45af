/**
 * The normal form of texts: two that look alike are stored alike, and are found by one another.
 *
 * @see decisions 2 ("Normal form of text")
 */

const UNSHAPED = String.raw`\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Inherited}`;
/** Letters of scripts in which a joiner or a variation selector changes how a word is written. */
const SHAPED = String.raw`(?![${UNSHAPED}])[\p{L}\p{M}]`;
const PICTURE = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{FE0F}]`;

const LINE_END = /\r\n?|[\v\f\u{85}\u{2028}\u{2029}]/gu;
/**
 * The flags of countries' parts are spelled with tags, which are invisible elsewhere. U+0000 stays, so that
 * it is refused.
 */
const FLAG_OR_INVISIBLE = new RegExp(
  String.raw`(\u{1F3F4}[\u{E0020}-\u{E007E}]{1,10}\u{E007F})|` +
    String.raw`(?![\0\t\n\u{200C}\u{200D}]|\p{Variation_Selector})` +
    String.raw`[\p{Cc}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]`,
  'gu',
);
/** A joiner is kept inside a word, behind a sign such as a virama, and between the parts of an emoji. */
const JOINER = new RegExp(
  String.raw`(?<!${SHAPED}(?=[\u{200C}\u{200D}][\p{L}\p{M}])|(?!\p{Script=Inherited})\p{M}|` +
    String.raw`${PICTURE}(?=\u{200D}\p{Extended_Pictographic}))[\u{200C}\u{200D}]`,
  'gu',
);
const SELECTOR = new RegExp(
  String.raw`(?<!${SHAPED}|\p{Extended_Pictographic})\p{Variation_Selector}(?!\u{20E3})`,
  'gu',
);
const ENDS = /^[\s\u{2800}]+|(?<![\s\u{2800}])[\s\u{2800}]+$/gu;
const PLAIN = /^(?:[!-~](?:[ -~\n\t]*[!-~])?)?$/;

/** A removal may make another character superfluous. Text that people write never needs a third pass. */
const MAX_PASSES = 4;

/**
 * A text in its normal form: Unicode NFC, without white space at the ends, with plain spaces and line feeds
 * for their kin, and without invisible characters. It is the normal form of itself.
 */
export function toNormalText(text: string): string {
  return normalize(text, ENDS);
}

/** Like `toNormalText`, for a part of a text such as a search term: white space at its ends stays. */
export function toNormalPart(text: string): string {
  return normalize(text, undefined);
}

/** The form that texts share which differ only in case and white space; the same on every machine. */
export function foldText(text: string): string {
  // Twice: the capital of ß is SS, and a lower-case sigma is another at the end of a word.
  const lower = toNormalText(text).toLowerCase().toUpperCase().toLowerCase();
  return toNormalText(lower.replaceAll(/\s+/g, ' ').replaceAll('ς', 'σ'));
}

function normalize(text: string, ends: RegExp | undefined): string {
  if (PLAIN.test(text)) return text;
  let normal = text;
  for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
    const before = normal;
    normal =
      pass < MAX_PASSES ? before : before.replaceAll(/[\u{200C}\u{200D}]|\p{Variation_Selector}/gu, '');
    normal = normal
      .normalize('NFC')
      .replaceAll(LINE_END, '\n')
      .replaceAll(/\p{Zs}/gu, ' ')
      .replaceAll(FLAG_OR_INVISIBLE, '$1')
      .replaceAll(JOINER, '')
      .replaceAll(SELECTOR, '')
      .normalize('NFC');
    if (ends !== undefined) normal = normal.replaceAll(ends, '');
    if (normal === before) break;
  }
  return normal;
}
