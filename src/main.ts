#!/usr/bin/env node
/**
 * `campus`: runs cli/run-campus.ts as bundled by `npm run compile`. TypeScript does not know the bundle, so
 * its address is assembled here.
 *
 * Node 22.1 and later caches the compiled code beside the bundle, if this process may write there. Not in the
 * folder for temporary files: other users could write to the cache there, and change the program.
 */
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { findNodeFault } from './base/process/node-fault.js';

const EXIT_WITHIN_MS = 2_000;
const { engines } = module.createRequire(import.meta.url)('../package.json') as { engines: { node: string } };
const fault = findNodeFault(process.versions.node, engines.node);
if (fault === undefined) {
  // The types are those of Node 20, which does not have this function.
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => unknown };
  enableCompileCache?.(fileURLToPath(new URL('./compile-cache', import.meta.url)));
  const { runCampus } = await import(new URL('./program/program.js', import.meta.url).href);
  await runCampus(process.argv.slice(2));
  // Handles that a failed command left open (a connection, a timer) must not keep the process alive.
  if (process.exitCode) setTimeout(() => process.exit(), EXIT_WITHIN_MS).unref();
} else {
  process.stderr.write(`campus: ${fault}\n`);
  process.exitCode = 1;
}
