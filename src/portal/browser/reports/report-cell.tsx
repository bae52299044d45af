/** A value of a report in its cell. A list of objects is a table of its own, which the user can open. */
import { useReportWords } from '../language/use-report-words';
import { useTexts } from '../language/use-texts';
import type { ReportColumn } from './askable-report';
import { nameOfColumn } from './name-of-column';
import { isNumberColumn, type ReportRow, useReportValueText } from './report-values';

export interface ReportCellProps {
  readonly row: ReportRow;
  readonly column: ReportColumn;
  readonly currency: string | undefined;
}

/** A single object with at most this many values is shown in one line. */
const MOST_IN_LINE = 3;

export function ReportCell({ row, column, currency }: ReportCellProps) {
  const value = row[column.name];
  const t = useTexts();
  const valueText = useReportValueText(currency);
  const { members } = column;
  const isPlain = !Array.isArray(value) || value.length === 0 || members.length === 0;
  if (isPlain || (value.length === 1 && members.length <= MOST_IN_LINE)) return valueText(value, column, row);
  return (
    <details>
      <summary>{t('{count, plural, one {# entry} other {# entries}}', { count: value.length })}</summary>
      <EntriesTable entries={value} column={column} currency={currency} />
    </details>
  );
}

interface EntriesTableProps extends Omit<ReportCellProps, 'row'> {
  readonly entries: readonly ReportRow[];
}

/** A member that no entry has gets no column. */
function EntriesTable({ entries, column, currency }: EntriesTableProps) {
  const say = useReportWords();
  const valueText = useReportValueText(currency);
  const members = column.members
    .map((member): ReportColumn => ({ ...member, isList: false, members: [] }))
    .filter(({ name }) => entries.some((entry) => (entry[name] ?? '') !== ''));
  const classOf = (member: ReportColumn) => (isNumberColumn(member) ? 'numeric one-line' : '');
  return (
    <table className="entries">
      <thead>
        <tr>
          {members.map((member) => (
            <th key={member.name} scope="col" className={classOf(member)}>
              {say(nameOfColumn(member.name))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry of a list has no name but its place.
          <tr key={index}>
            {members.map((member) => (
              <td key={member.name} className={classOf(member)}>
                {valueText(entry[member.name], member, entry)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
