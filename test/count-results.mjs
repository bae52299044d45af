/**
 * `node test/count-results.mjs <file>…`: tells in one line what came of all tests in files that Jest has
 * written by `--json`. Of a test file that is in several, the last counts: it was run again.
 */
import { readFileSync } from 'node:fs';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('Name the files of results that are to be counted');

const lastByName = new Map();
for (const file of files) {
  for (const result of JSON.parse(readFileSync(file, 'utf8')).testResults)
    lastByName.set(result.name, result);
}
const counts = { passed: 0, failed: 0, skipped: 0 };
for (const { status, assertionResults } of lastByName.values()) {
  // A file that could not be run at all has no tests to count.
  if (status === 'failed' && assertionResults.length === 0) counts.failed += 1;
  for (const { status: outcome } of assertionResults) {
    if (outcome === 'passed' || outcome === 'failed') counts[outcome] += 1;
    else counts.skipped += 1;
  }
}
console.log(
  `Tests: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ` +
    `of ${lastByName.size} files.`,
);
