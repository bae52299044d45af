import { spawnSync } from 'node:child_process';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COMPILER = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

/** Jest, once before all test files. */
export default async function setUp() {
  // The tests load src/ as it is compiled, which `npm test` has done before. The compiler prints what is
  // wrong, and compiles all the same.
  if (!process.env.npm_lifecycle_event?.startsWith('test')) {
    spawnSync(process.execPath, [COMPILER, '-p', ROOT], { stdio: 'inherit' });
  }
  register('./typescript-hooks.mjs', import.meta.url);
  const { startTestServer } = await import('./test-server.ts');
  globalThis.stopTestServer = await startTestServer();
}
