import type { JsonObject } from '../../../base/json/json.js';
import type { RowClass } from './columns.js';
import type { ParameterList } from './parameters.js';
import type { ReportLine } from './statement.js';

/** The part of a report that printers need. */
export interface ReportForm {
  /** The name on the command line, in `?report=` and in the scopes of a key, e.g. `fee-defaulters`. */
  readonly name: string;
  readonly title: string;
  readonly parameters: ParameterList;
  readonly row: RowClass;
  readonly totals: RowClass;
}

/** A line of the report's statement: the JSON text of a row, the totals, or a warning. */
export interface ReportStreamLine {
  readonly part: ReportLine['part'];
  readonly json: string;
}

/** The lines before the rows. */
export interface ReportHead {
  readonly report: string;
  readonly parameters: JsonObject;
  readonly generatedAt: string;
  readonly currency: string;
}
