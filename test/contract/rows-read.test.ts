/** No write reads a whole collection for a few records, whatever PostgreSQL knows of its tables. */
import { describeRowsRead } from './describe-rows-read.js';

describeRowsRead(50_000);
