/** The same as `rows-read.test.ts`, on a million records, with all that PostgreSQL may know and all plans. */
import { describeRowsRead } from './describe-rows-read.js';
import { KNOWLEDGE } from './every-write.js';

describeRowsRead(
  1_000_000,
  KNOWLEDGE.map((knowledge) => [knowledge, ['custom', 'generic']] as const),
);
