/** The version of the package, as `GET /`, `--version` and openapi.json say it. */
import { createRequire } from 'node:module';
import { z } from 'zod';

const Package = z.object({ version: z.string() });

export const VERSION = Package.parse(createRequire(import.meta.url)('../package.json')).version;
