/** The answers to requests that `arrive.ts` sends before the main script has loaded. Each is taken once. */
export interface EarlyAnswers {
  /** Whether this browser has a session. */
  readonly session: Promise<Response>;
  /** The logged-in user and their rights; `undefined` if nobody is logged in. */
  readonly viewer: Promise<Response | undefined>;
}

declare global {
  var campusEarlyAnswers: Partial<EarlyAnswers> | undefined;
}

/** Returns `undefined` if the request was not sent, or if its answer was taken before and may be outdated. */
export function takeEarly<Part extends keyof EarlyAnswers>(part: Part): EarlyAnswers[Part] | undefined {
  const { [part]: taken, ...left } = globalThis.campusEarlyAnswers ?? {};
  globalThis.campusEarlyAnswers = left as Partial<EarlyAnswers>;
  return taken as EarlyAnswers[Part] | undefined;
}
