/** The links of values in a report: to the record, or to the report behind a number. */
import { fillIn } from '../acts/acts';
import { useNameOfReport, useViewer } from '../gateway/use-gateway';
import { escapeValue } from '../records/filter-conditions';
import type { AskableReport, LinkedPage, ReportRow } from './askable-report';
import declared from './report-links.json';

/**
 * `{field}` stands for a column of the row or a parameter, without which there is no link; `{field?}` may be
 * missing. The first link that applies counts.
 */
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
    const link = links.find(
      ({ columns, when = {}, to, search = {} }) =>
        columns.includes(column) &&
        row[column] &&
        Object.entries(when).every(([name, value]) => subject[name] === value) &&
        [to, ...Object.values(search)].every((text) =>
          [...text.matchAll(/\{\w+\}/g)].every(([one]) => fillIn(one, subject) !== ''),
        ),
    );
    if (!link) return undefined;
    const values = Object.entries({ ...link.search, ...(link.to !== link.path && { run: '1' }) }).map(
      ([name, text]) => {
        return [name, fillIn(text.replace('?}', '}'), subject, name === 'oquery' ? escapeValue : undefined)];
      },
    );
    return { to: fillIn(link.path, subject, encodeURIComponent), search: Object.fromEntries(values) };
  };
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
