/** The parts of a report that each format of a complete answer shows. */
import type { Format } from '../../../base/tables/format.js';
import { columnsOf } from './columns.js';
import { columnNames, everyPart, type ShownClasses, type ShownParts } from './shown-parts.js';

export function partsOfFormat(report: ShownClasses, format: Format): ShownParts {
  const every = everyPart(report);
  switch (format) {
    case 'json':
      return every;
    case 'ndjson':
      return { ...every, totals: undefined, warnings: false };
    case 'csv':
    case 'parquet':
      return { ...every, totals: distributedColumns(report), warnings: false };
    case 'xlsx':
      return { ...every, totals: columnsOfBoth(report) };
  }
}

/** Lists in the totals that determine the columns of the same lists in the rows. */
function distributedColumns({ row, totals }: ShownClasses): ReadonlySet<string> {
  const known = columnNames(totals);
  const spread = columnsOf(row).filter(({ layout, name }) => layout?.kind === 'spread' && known.has(name));
  return new Set(spread.map(({ name }) => name));
}

/** The line of totals has a cell for each column that is also in the rows. */
function columnsOfBoth({ row, totals }: ShownClasses): ReadonlySet<string> {
  const known = columnNames(totals);
  return new Set([...columnNames(row)].filter((name) => known.has(name)));
}
