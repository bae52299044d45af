/** The version of the package, as `GET /`, `--version` and openapi.json say it. */
import { createRequire } from 'node:module';
import { invariant } from './errors.js';

export const VERSION = versionOf(createRequire(import.meta.url)('../package.json'));

/** Read by hand: the help of the command line would wait longer for zod than for all else. */
function versionOf(manifest: unknown): string {
  invariant(
    typeof manifest === 'object' &&
      manifest !== null &&
      'version' in manifest &&
      typeof manifest.version === 'string',
    'package.json says the version',
  );
  return manifest.version;
}
