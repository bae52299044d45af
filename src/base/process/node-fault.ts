/**
 * Explains in one line what is wrong with a version of Node.js; `undefined` if it is recent enough. It runs
 * before the gateway is loaded, because an older Node.js would fail on the first missing module export,
 * without mentioning versions. For the same reason it imports nothing, and uses only syntax that an old
 * Node.js understands.
 *
 * @param running as in `process.versions.node`
 * @param needed the `engines` of package.json: `>=20.19.0`
 */
export function findNodeFault(running: string, needed: string): string | undefined {
  const least = needed.replace('>=', '');
  if (isAtLeast(running, least)) return undefined;
  return `Node.js ${least} or later is needed; this is ${running}, in ${process.execPath}.`;
}

function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [leastMajor = 0, leastMinor = 0, leastPatch = 0] = least.split('.').map(Number);
  if (major !== leastMajor) return major > leastMajor;
  if (minor !== leastMinor) return minor > leastMinor;
  return patch >= leastPatch;
}
