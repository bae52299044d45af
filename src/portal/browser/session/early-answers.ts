/** What a page asks for before its script has come (`arrive.ts`), each to be taken once. */
export interface EarlyAnswers {
  /** The answer to whether this browser has a session. */
  readonly session: Promise<Response>;
  /** The answer to who is logged in and what they may do; `undefined` where nobody is. */
  readonly viewer: Promise<Response | undefined>;
}

declare global {
  var campusEarlyAnswers: Partial<EarlyAnswers> | undefined;
}

/** `undefined` where it was not asked for, or was taken before and may no longer hold. */
export function takeEarly<Part extends keyof EarlyAnswers>(part: Part): EarlyAnswers[Part] | undefined {
  const { [part]: taken, ...left } = globalThis.campusEarlyAnswers ?? {};
  globalThis.campusEarlyAnswers = left as Partial<EarlyAnswers>;
  return taken as EarlyAnswers[Part] | undefined;
}
