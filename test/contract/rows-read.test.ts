/**
 * No write reads a whole collection for a few records, whatever PostgreSQL knows of its tables. Here are the
 * two cases that lead it astray most; the trial has all six.
 */
import { describeRowsRead } from './describe-rows-read.js';

describeRowsRead(50_000, [
  ['nothing', ['generic']],
  ['another school', ['custom']],
]);
