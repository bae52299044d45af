/** The REST address of a report. The index of the service names its parameters in REST. */
import type { AskableReport } from './askable-report';

export interface IndexedReport {
  readonly name: string;
  readonly parameters: readonly { readonly name: string }[];
}

/**
 * Parameters whose values are the same in REST and in the schema. Other enum values are in lower case in
 * REST.
 */
const SAME_IN_REST = /Basis$/;

/** The parameters are in the same order in both. */
export function restAddress(
  report: IndexedReport,
  {
    form,
    values,
    format,
  }: {
    readonly form: AskableReport;
    readonly values: Readonly<Record<string, string>>;
    readonly format?: string;
  },
): string {
  const address = new URLSearchParams({ report: report.name });
  form.parameters.forEach(({ name, type, choices }, index) => {
    const value = values[name] ?? '';
    const named = report.parameters[index]?.name;
    if (value === '' || named === undefined) return;
    address.set(named, choices && !SAME_IN_REST.test(type) ? value.toLowerCase() : value);
  });
  if (format !== undefined) address.set('format', format);
  return `/?${address}`;
}
