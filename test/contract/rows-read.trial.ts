/** The same as `rows-read.test.ts`, on a million records. */
import { describeRowsRead } from './describe-rows-read.js';

describeRowsRead(1_000_000);
