#!/usr/bin/env node
/**
 * `campus`: runs cli/run-campus.ts as `npm run compile` bundled it. TypeScript does not know that file, so
 * its address is put together here.
 *
 * Node from 22.1 on keeps what V8 compiled of it beside it, where this process may write. Whoever may write
 * there may change the program itself; in the folder for temporary files, others could.
 */
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { findNodeFault } from './node-fault.js';

const { engines } = module.createRequire(import.meta.url)('../package.json') as { engines: { node: string } };
const fault = findNodeFault(process.versions.node, engines.node);
if (fault === undefined) {
  // The types are those of Node 20, which has none.
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => unknown };
  enableCompileCache?.(fileURLToPath(new URL('./compile-cache', import.meta.url)));
  const { runCampus } = await import(new URL('./program/program.js', import.meta.url).href);
  await runCampus(process.argv.slice(2));
} else {
  process.stderr.write(`campus: ${fault}\n`);
  process.exitCode = 1;
}
