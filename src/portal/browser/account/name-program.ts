/** A browser or another program, as its user knows it. */
export interface NamedProgram {
  /** The name with the main version: `Chrome 143`. */
  readonly program: string;
  /** Its operating system; absent if it does not name one. */
  readonly system?: string;
}

/** The order matters: each of the first browsers also claims to be one of the later ones. */
const BROWSERS: readonly (readonly [name: string, version: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)(?:\.\d+)* (?:Mobile\/\w+ )?Safari\//],
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
 * Reads the browser and the system from a `User-Agent`. Another program has the name that it gives itself,
 * without additions: `curl/8.5.0` for `curl/8.5.0 (x86_64-pc-linux-gnu)`. It is only for display.
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
