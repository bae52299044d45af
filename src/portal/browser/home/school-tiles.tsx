/** Tiles about the whole school: leave, strength, results. */
import { Anchor, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { LeaveToDecide, ResultsByTerm, StrengthByClass } from '../../../generated/portal/home/home';
import { useNameOfReport, useViewer } from '../gateway/use-gateway';
import { dayBefore, sessionYearOf } from '../language/days';
import { nameOfEnumValue } from '../language/name-of-field';
import { useFormats, useReportWords, useTexts } from '../language/use-texts';
import { EmptyState } from '../shell/states';
import { type DayTileProps, Figure, leaveToDecide, Tile, TileChart } from './tile';

export function SchoolTiles({ day }: Pick<DayTileProps, 'day'>) {
  const { collections } = useViewer();
  const nameOfReport = useNameOfReport();
  const strength = nameOfReport('strength');
  const mayDecide = collections.some((one) => one.name === 'leave_request' && one.canUpdate);
  const mayReadResults = collections.some((one) => one.name === 'result' && one.canRead);
  return (
    <>
      {strength && <StrengthTile day={day} report={strength} />}
      {mayReadResults && <ResultsTile day={day} />}
      {mayDecide && <LeaveTile day={day} />}
    </>
  );
}

function LeaveTile({ day }: Pick<DayTileProps, 'day'>) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Leave to approve')}
      operation={LeaveToDecide}
      variables={{ before: dayBefore(day, -1) }}
      report="leaveRequests"
      to="/portal/records/leave_request"
      search={leaveToDecide(day)}
      show={({ records: { nodes } }) =>
        nodes.length === 0 ? (
          <EmptyState icon="check" title={t('No requests are waiting')} />
        ) : (
          <Table fz="sm" verticalSpacing={4} aria-label={t('Leave to approve')}>
            <Table.Tbody>
              {nodes.map(({ id, data }) => {
                const { name, from, to } = data as LeaveFields;
                const dayOf = (day: string | undefined) => (day === undefined ? '' : formats.day(day));
                return (
                  <Table.Tr key={id}>
                    <Table.Td>
                      <Anchor
                        component={Link}
                        to={`/portal/records/leave_request/${encodeURIComponent(id)}`}
                        size="sm"
                      >
                        {name?.label ?? id}
                      </Anchor>
                      <div className="dimmed">
                        <span className="unbroken">{dayOf(from)} –</span>{' '}
                        <span className="unbroken">{dayOf(to)}</span>
                      </div>
                    </Table.Td>
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
        )
      }
    />
  );
}

interface LeaveFields {
  readonly name?: { readonly label?: string };
  readonly from?: string;
  readonly to?: string;
}

function StrengthTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  const asked = { session: sessionYearOf(day, useViewer().sessionFirstMonth), date: day };
  return (
    <Tile
      title={t('Strength')}
      operation={StrengthByClass}
      variables={asked}
      report="strength"
      to={`/portal/reports/${report}`}
      search={{ ...asked, run: '1' }}
      show={({ strength: { rows, totals } }) => {
        if (totals.strength === 0) return <EmptyState icon="users" title={t('No students yet')} />;
        const classes = [...Map.groupBy(rows, (row) => row.class)];
        const sum = (of: 'boys' | 'girls' | 'other') =>
          classes.map(([, sections]) => sections.reduce((count, section) => count + section[of], 0));
        return (
          <>
            <Figure value={formats.number(totals.strength)} note={t('students')} />
            <TileChart
              kind="stackedBar"
              title={t('Students by class and gender')}
              labels={classes.map(([name]) => name)}
              labelled={t('Class')}
              series={[
                { name: t('Boys'), values: sum('boys') },
                { name: t('Girls'), values: sum('girls') },
                ...(sum('other').some((count) => count > 0)
                  ? [{ name: t('Other'), values: sum('other') }]
                  : []),
              ]}
              unit="number"
            />
          </>
        );
      }}
    />
  );
}

function ResultsTile({ day }: Pick<DayTileProps, 'day'>) {
  const t = useTexts();
  const formats = useFormats();
  const say = useReportWords();
  const session = sessionYearOf(day, useViewer().sessionFirstMonth);
  return (
    <Tile
      title={t('Results by term')}
      operation={ResultsByTerm}
      variables={{ session }}
      to="/portal/records/result"
      search={{ oquery: `session=${session}` }}
      show={({ resultsAggregate }) => {
        const terms = [...Map.groupBy(resultsAggregate, ({ key }) => String(key?.term ?? ''))];
        if (terms.length === 0) return <EmptyState icon="chart" title={t('No results yet')} />;
        const count = (isPublished: boolean) =>
          terms.map(([, groups]) =>
            groups
              .filter(({ key }) => key?.published === isPublished)
              .reduce((sum, group) => sum + group.count, 0),
          );
        const published = sum(count(true));
        const all = published + sum(count(false));
        return (
          <>
            <Figure
              value={formats.number(published)}
              note={t('of {count, plural, one {# result} other {# results}} are published', { count: all })}
            />
            <TileChart
              kind="stackedBar"
              title={t('Results by term')}
              labels={terms.map(([term]) => say(nameOfEnumValue(term)))}
              series={[
                { name: t('Published'), values: count(true) },
                { name: t('Not published'), values: count(false) },
              ]}
              unit="number"
            />
          </>
        );
      }}
    />
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
