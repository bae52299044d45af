/** The tiles of the dashboard about attendance: who is there, who is not, and who was away too often. */
import { Anchor, Table } from '@mantine/core';
import { PresentOnDay, ShortageByClass } from '../../../generated/portal/home/home';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { EmptyState } from '../shell/states';
import { useNameOfReport } from '../shell/viewer';
import { Figure } from './figure';
import { type DayTileProps, Tile } from './tile';
import { TileChart } from './tile-chart';

export function AttendanceTiles({ day }: Pick<DayTileProps, 'day'>) {
  const nameOfReport = useNameOfReport();
  const [daySheet, shortage] = ['daySheet', 'attendanceShortage'].map(nameOfReport);
  return (
    <>
      {daySheet && <PresentTile day={day} report={daySheet} />}
      {daySheet && <AbsenteesTile day={day} report={daySheet} />}
      {shortage && <ShortageTile day={day} report={shortage} />}
    </>
  );
}

function PresentTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Absent by class')}
      operation={PresentOnDay}
      variables={{ date: day }}
      report="daySheet"
      to={`/portal/reports/${report}`}
      search={{ date: day, run: '1' }}
      isWide
      show={({ daySheet: { totals } }) => {
        if (totals.marked === 0)
          return (
            <EmptyState
              icon="inbox"
              title={t('No attendance was marked on {day}', { day: formats.day(day) })}
            />
          );
        const classes = [...Map.groupBy(totals.sections, (section) => section.class)];
        const sumOf = (sections: typeof totals.sections, of: 'absent' | 'leave' | 'marked') =>
          sections.reduce((sum, section) => sum + section[of], 0);
        return (
          <TileChart
            kind="stackedBar"
            title={t('Absent and on leave by class')}
            labels={classes.map(([name]) => name)}
            labelled={t('Class')}
            series={[
              { name: t('Absent'), values: classes.map(([, sections]) => sumOf(sections, 'absent')) },
              { name: t('On leave'), values: classes.map(([, sections]) => sumOf(sections, 'leave')) },
            ]}
            unit="number"
          />
        );
      }}
    />
  );
}

const MOST_ABSENTEES = 6;

/** Whom to call, of the same answer as `PresentTile`, so that it costs no request of its own. */
function AbsenteesTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Absentees')}
      operation={PresentOnDay}
      variables={{ date: day }}
      report="daySheet"
      to={`/portal/reports/${report}`}
      search={{ date: day, run: '1' }}
      show={({ daySheet: { rows, totals } }) => {
        if (totals.marked === 0)
          return (
            <EmptyState
              icon="inbox"
              title={t('No attendance was marked on {day}', { day: formats.day(day) })}
            />
          );
        const absent = rows.filter(({ status }) => status === 'absent').slice(0, MOST_ABSENTEES);
        if (absent.length === 0)
          return (
            <EmptyState icon="check" title={t('No one is absent on {day}', { day: formats.day(day) })} />
          );
        return (
          <>
            <Figure value={formats.number(totals.absent)} note={t('students are absent')} />
            <Table fz="sm" verticalSpacing={4} aria-label={t('Absentees')}>
              <Table.Tbody>
                {absent.map(({ studentId, name, class: className, section, phone }) => (
                  <Table.Tr key={studentId}>
                    <Table.Td>
                      {name ?? studentId} <span className="dimmed">{`${className} ${section}`}</span>
                    </Table.Td>
                    <Table.Td className="numeric one-line">
                      {phone && (
                        <Anchor href={`tel:${phone.replaceAll(/[^+\d]/g, '')}`} size="sm">
                          {phone}
                        </Anchor>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </>
        );
      }}
    />
  );
}

function ShortageTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  const end = day.slice(0, 7);
  return (
    <Tile
      title={t('Low attendance')}
      operation={ShortageByClass}
      variables={{ end }}
      report="attendanceShortage"
      to={`/portal/reports/${report}`}
      search={{ end, run: '1' }}
      show={({ attendanceShortage: { totals } }) =>
        totals.students === 0 ? (
          <EmptyState icon="users" title={t('No attendance yet')} />
        ) : (
          <>
            <Figure
              value={formats.number(totals.below)}
              note={t('of {count} students', { count: formats.number(totals.students) })}
            />
            <TileChart
              kind="bar"
              title={t('Students with low attendance by class')}
              labels={totals.classes.map((one) => one.class)}
              labelled={t('Class')}
              series={[{ name: t('Students'), values: totals.classes.map(({ below }) => below) }]}
              unit="number"
            />
          </>
        )
      }
    />
  );
}
