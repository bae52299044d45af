/** A browser, or another program, as its user calls it. */
export interface NamedProgram {
  /** With its main version: `Chrome 143`. */
  readonly program: string;
  /** What it runs on; absent where it does not say so. */
  readonly system?: string;
}

/** In this order: each of the first says of itself that it is one of the later, too. */
const BROWSERS: readonly (readonly [name: string, version: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//],
];

const SYSTEMS: readonly (readonly [name: string, sign: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
];

/**
 * Reads a `User-Agent` as the browser and the system that it names. Another program is called as it calls
 * itself, without what it adds: `curl/8.5.0` of `curl/8.5.0 (x86_64-pc-linux-gnu)`. Nothing depends on it.
 */
export function nameProgram(userAgent: string): NamedProgram {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([, sign]) => sign.test(userAgent))?.[0];
    return { program: `${name} ${version}`, ...(system !== undefined && { system }) };
  }
  return { program: userAgent.split(' ')[0] ?? userAgent };
}
