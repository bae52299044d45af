/** The version of the package, shown by `GET /`, `--version` and openapi.json. */
import { createRequire } from 'node:module';
import { invariant } from '../errors.js';

export const VERSION = versionOf(createRequire(import.meta.url)('../../../package.json'));

/** Parsed by hand: loading zod would take `campus --help` longer than everything else. */
function versionOf(manifest: unknown): string {
  invariant(
    typeof manifest === 'object' &&
      manifest !== null &&
      'version' in manifest &&
      typeof manifest.version === 'string',
    'package.json has the version',
  );
  return manifest.version;
}
