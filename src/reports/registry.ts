/** The reports, in the order of reports.md: what is not in this list is no report. */
import { ServiceError } from '../errors.js';
import type { Report } from './report.js';

export const reports: readonly Report[] = [];

/** By name (`fee-defaulters`) or GraphQL field (`feeDefaulters`). @throws NOT_FOUND (404) listing the names */
export function getReport(name: string): Report {
  const report = reports.find((candidate) => candidate.name === name || candidate.field === name);
  if (report) return report;
  const names = reports.map((candidate) => candidate.name).join(', ');
  throw new ServiceError('NOT_FOUND', `There is no report ${JSON.stringify(name)}; there are ${names}.`);
}
