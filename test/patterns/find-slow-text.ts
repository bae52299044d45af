/** Looks for a text for which a regular expression takes more steps than a multiple of its length. */
import vm from 'node:vm';
import { listSlowTexts, type SlowText } from './slow-texts.js';

/**
 * All texts are tried short; the few that take long for their length are tried long. With the square, a
 * quarter of a millisecond at the former is 0.16 s at the latter: what grows with the text is done in a
 * fraction of that even where the machine is busy, and has further, longer chances.
 */
const SHORT = 2_000;
const SUSPECT_MS = 0.25;
const LONG = 50_000;
/** What takes quadratic time takes longer than all of these; a busy machine may delay others once. */
const LONG_ENOUGH_MS = [100, 200, 400];
/** What takes exponentially many steps does not return from a short text either. */
const ALL_SHORT_MS = 1_000;

/** The slow text, or undefined. Flags are those of the code: a sticky pattern is tried at one place. */
export function findSlowText(source: string, flags: string): SlowText | undefined {
  const texts = listSlowTexts(source, flags);
  const context = vm.createContext({
    texts,
    source,
    flags: flags.includes('g') ? flags : `${flags}g`,
    now: () => performance.now(),
    current: 0,
  });
  vm.runInContext(TRIAL, context);
  for (; ; context.current += 1) {
    // Beyond that time, the text in progress is as suspect as one at which it stops.
    isBeyond(ALL_SHORT_MS, context, `tryShort(${SHORT}, ${SUSPECT_MS})`);
    if (context.current >= texts.length) return undefined;
    if (isSlow(context)) return texts[context.current];
  }
}

/** Every match is replaced, for that goes on behind each: as splitting does, and a loop over all matches. */
const TRIAL = `
  const pattern = new RegExp(source, flags);
  function tryOut(length) {
    const { before, again, after } = texts[current];
    const text = before + again.repeat(length / again.length) + after;
    const start = now();
    text.replace(pattern, '');
    return now() - start;
  }
  /** Stops at the next text that takes longer than the limit. */
  function tryShort(length, limit) {
    while (current < texts.length && tryOut(length) <= limit) current += 1;
  }
`;

function isSlow(context: vm.Context): boolean {
  return LONG_ENOUGH_MS.every((ms) => isBeyond(ms, context, `tryOut(${LONG})`));
}

function isBeyond(timeout: number, context: vm.Context, code: string): boolean {
  try {
    vm.runInContext(code, context, { timeout });
    return false;
  } catch (error) {
    if (isTimeout(error)) return true;
    throw error;
  }
}

/** An error of the other realm, so no `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
