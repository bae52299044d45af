import { ServiceError } from '../errors.js';
import type { Report } from './report.js';
import type { ReportHead, ReportStreamLine } from './report-run.js';

export function printXlsx(
  _report: Report,
  _head: ReportHead,
  _lines: AsyncIterable<ReportStreamLine>,
): AsyncIterable<Uint8Array> {
  throw new ServiceError('NOT_ACCEPTABLE', 'XLSX is not ready yet.');
}
