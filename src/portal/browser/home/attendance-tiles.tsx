/** The tiles of the dashboard about attendance: who is there, who is not, and who was away too often. */
import { Alert, Anchor, Table } from '@mantine/core';
import { PresentOnDay, type PresentOnDayQuery, ShortageByClass } from '../../../generated/portal/home/home';
import { useNameOfReport } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { EmptyState } from '../shell/states';
import { type DayTileProps, Figure, Tile, TileChart } from './tile';

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
        if (totals.marked === 0) return <NothingMarked day={day} totals={totals} />;
        const classes = [...Map.groupBy(totals.sections, (section) => section.class)];
        const sumOf = (sections: typeof totals.sections, of: 'absent' | 'leave' | 'marked') =>
          sections.reduce((sum, section) => sum + section[of], 0);
        return (
          <>
            <MarkedPart totals={totals} />
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
          </>
        );
      }}
    />
  );
}

type DayTotals = PresentOnDayQuery['daySheet']['totals'];

interface DayTotalsProps {
  readonly totals: DayTotals;
}

/** Explains why there are no marks: the day is no school day, or nobody has marked it yet. */
function NothingMarked({ day, totals }: DayTotalsProps & Pick<DayTileProps, 'day'>) {
  const t = useTexts();
  const formats = useFormats();
  const words = { day: formats.day(day), holiday: totals.holiday };
  if (totals.holiday !== null)
    return <EmptyState icon="inbox" title={t('{day} is a holiday: {holiday}', words)} />;
  if (totals.isSchoolDay === false)
    return <EmptyState icon="inbox" title={t('{day} is not a school day', words)} />;
  return <EmptyState icon="inbox" title={t('No attendance was marked on {day}', words)} />;
}

/** More names say less than their number. */
const MOST_UNMARKED = 12;

/** What the figures do not contain: sections without marks. On a day off, the marks count for nothing. */
function MarkedPart({ totals: { isSchoolDay, holiday, unmarked } }: DayTotalsProps) {
  const t = useTexts();
  if (isSchoolDay === false)
    return (
      <Alert role="note" variant="light" p="xs" mb="xs">
        {holiday === null
          ? t('This is not a school day: its marks do not count.')
          : t('This is a holiday ({holiday}): its marks do not count.', { holiday })}
      </Alert>
    );
  if (unmarked.length === 0) return null;
  const places = unmarked.slice(0, MOST_UNMARKED).map((one) => `${one.class} ${one.section}`);
  const rest = unmarked.length - places.length;
  return (
    <Alert role="note" variant="light" p="xs" mb="xs">
      {t('Not marked yet: {sections}', {
        sections: [...places, ...(rest > 0 ? [t('and {count, number} more', { count: rest })] : [])].join(
          ', ',
        ),
      })}
    </Alert>
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
        if (totals.marked === 0) return <NothingMarked day={day} totals={totals} />;
        const absent = rows.filter(({ status }) => status === 'absent').slice(0, MOST_ABSENTEES);
        if (absent.length === 0)
          return (
            <>
              <EmptyState icon="check" title={t('No one is absent on {day}', { day: formats.day(day) })} />
              <MarkedPart totals={totals} />
            </>
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
  const end = day;
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
