import { register } from 'node:module';

/** Jest, once before all test files. */
export default async function setUp() {
  register('./typescript-hooks.mjs', import.meta.url);
  const { startTestServer } = await import('./test-server.ts');
  globalThis.stopTestServer = await startTestServer();
}
