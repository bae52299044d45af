/** Where the values of a report lead: to the record, or to the report of what is behind a number. */
import { REPORT_FORMS } from '../../../generated/portal/report-forms';
import { fillIn } from '../acts/acts';
import { useNameOfReport, useViewer } from '../gateway/use-gateway';
import { escapeValue } from '../records/filter-conditions';
import type { AskableReport, LinkedPage, ReportRow } from './askable-report';
import declared from './report-links.json';

/** `{field}` stands for a column of the row or a parameter. The first link that applies counts. */
interface ReportLink {
  /** The only report that has the link. */
  readonly report?: string;
  readonly columns: readonly string[];
  /** Values that the row or the parameters must have. */
  readonly when?: Readonly<Record<string, string>>;
  /** A path of the portal, or the field of another report. */
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

const LINKS: readonly ReportLink[] = declared;

/** Returns the page of a value; `undefined` without a link, or if the viewer may not open the page. */
export function useReportLinks({ field }: AskableReport, parameters: ReportRow) {
  const pathOf = usePathOf();
  const links = LINKS.flatMap((link) => {
    const path = pathOf(link.to);
    return path !== undefined && (link.report ?? field) === field ? [{ ...link, path }] : [];
  });
  return (column: string, row: ReportRow): LinkedPage | undefined => {
    const subject = { ...parameters, ...row };
    for (const { columns, when = {}, to, path, search = {} } of links) {
      const isMeant = Object.entries(when).every(([name, value]) => subject[name] === value);
      if (!columns.includes(column) || !row[column] || !isMeant) continue;
      const isReport = to !== path;
      const filled = Object.entries(search).filter(([, text]) => isFilled(text, subject));
      const isComplete = isReport
        ? requiredOf(to).every((name) => filled.some(([given]) => given === name))
        : isFilled(to, subject) && filled.length === Object.keys(search).length;
      if (!isComplete) continue;
      const values = filled.map(([name, text]) => {
        return [name, fillIn(text, subject, name === 'oquery' ? escapeValue : undefined)];
      });
      return {
        to: fillIn(path, subject, encodeURIComponent),
        search: { ...Object.fromEntries(values), ...(isReport && { run: '1' }) },
      };
    }
    return undefined;
  };
}

function isFilled(text: string, subject: ReportRow): boolean {
  return [...text.matchAll(/\{[^{}]+\}/g)].every(([one]) => fillIn(one, subject) !== '');
}

function requiredOf(field: string): readonly string[] {
  const form = REPORT_FORMS.find((one) => one.field === field);
  return (form?.parameters ?? []).filter(({ isRequired }) => isRequired).map(({ name }) => name);
}

/** The path of a link, if the viewer may follow it. */
function usePathOf(): (to: string) => string | undefined {
  const { collections, sheets } = useViewer();
  const nameOfReport = useNameOfReport();
  return (to) => {
    const [, , room, name] = to.split('/');
    if (room === undefined) {
      const report = nameOfReport(to);
      return report === undefined ? undefined : `/portal/reports/${report}`;
    }
    const mayOpen =
      room === 'records'
        ? collections.some((one) => one.name === name && one.canRead)
        : (sheets as readonly { readonly name: string }[]).some((one) => one.name === name);
    return mayOpen ? to : undefined;
  };
}
