/** A part of `npm run lint`: tells each import that does not run down, and ends with 1 where there is one. */
import { findForbidden } from './floors.js';
import { readImports } from './import-graph.js';

const forbidden = findForbidden(readImports());
for (const { from, to } of forbidden) {
  console.error(`src/${from} may not import src/${to}; who may call whom: test/docs/floors.ts`);
}
if (forbidden.length > 0) process.exitCode = 1;
