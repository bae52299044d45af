/**
 * What is wrong with a version of Node.js, as one line for whoever starts the gateway; `undefined`: nothing.
 * It is asked before the gateway is loaded: an older Node.js ends at the first name of a module that it does
 * not have, and says nothing of versions. So nothing is imported here, and nothing written that such a one
 * could not read.
 *
 * @param running as `process.versions.node` says it
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
