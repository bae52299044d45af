/**
 * The order of the test files, for Jest. It knows how long each took the last time, and starts the longest
 * first; where it knows nothing, as on a fresh checkout, it goes by the sizes of the files, and a long test
 * in a short file may come last and keep one worker busy while the others have nothing left to do.
 */
import TestSequencer from '@jest/test-sequencer';

/** Those that take longer than most, the longest first; one that is forgotten here only comes later. */
const SLOWEST = [
  'contract/rights-matrix',
  'cli/campus',
  'contract/rows-read',
  'jobs/job-queue',
  'patterns/linear-patterns',
  'browser/dialogs',
  'browser/portal',
  'browser/record',
  'browser/refusals',
  'browser/roles',
  'browser/reports',
  'browser/explore',
  'reports/control-equations',
  'cli/script',
  'cli/report',
  'store/database/connection-watch',
  'reports/attendance-equations',
  'docs/examples',
  'docs/readme',
  'contract/sql-views',
  'contract/watchdog',
  'importing/round-trip',
  'contract/agents',
  'contract/operations-library',
  'contract/failover',
  'contract/replicas',
  'contract/asking-writes',
  'messaging/email',
  'scripting/attacks',
  'contract/proxies',
  'contract/files-stalled',
  'jobs/job-outage',
  'contract/kills',
  'contract/streaming',
  'reports/recomputed/recomputed',
];

export default class SlowestFirst extends TestSequencer {
  sort(tests) {
    const rankOf = ({ path }) => {
      const rank = SLOWEST.findIndex((name) =>
        path.replace(/\.(test|trial)\.ts$/, '').endsWith(`/test/${name}`),
      );
      return rank === -1 ? SLOWEST.length : rank;
    };
    const sorted = super.sort(tests);
    return sorted.some(({ duration }) => duration !== undefined)
      ? sorted
      : sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
