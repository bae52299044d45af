/** The dashboard: of the reports and records that the viewer has, what a day begins with. */
import { ActionIcon, Anchor, Group, Table, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  CollectedByMonth,
  CollectedOnDay,
  LargestDues,
  LeaveToDecide,
  OutstandingByAge,
  PresentOnDay,
  ResultsByTerm,
  ShortageByClass,
  StrengthByClass,
} from '../../../generated/portal/home/home';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { nameOfEnumValue } from '../reports/name-of-column';
import { useReportWords } from '../reports/use-report-words';
import { Icon } from '../shell/icon';
import { PageFrame } from '../shell/page-frame';
import { EmptyState } from '../shell/states';
import { useAddress } from '../shell/use-address';
import { useViewer } from '../shell/viewer';
import { dayBefore, monthsBefore, startOfSession } from './days-before';
import { Figure } from './figure';
import { FirstSteps } from './first-steps';
import { Tile } from './tile';
import { TileChart } from './tile-chart';

export function HomePage() {
  const t = useTexts();
  const formats = useFormats();
  const viewer = useViewer();
  const [{ day: chosen }, change] = useAddress({ day: '' });
  const day = chosen === '' ? formats.today : chosen;
  const reports = new Map(viewer.reports.map(({ field, name }) => [field, name]));
  const mayRead = (name: string) => viewer.collections.some((one) => one.name === name && one.canRead);
  const mayDecide = viewer.collections.some((one) => one.name === 'leave_request' && one.canUpdate);
  return (
    <PageFrame
      title={t('Home')}
      description={t('Welcome, {name}.', { name: viewer.name })}
      actions={
        <DayChoice day={day} today={formats.today} onChoose={(next) => change({ day: next }, 'replace')} />
      }
    >
      {reports.has('strength') && <FirstSteps />}
      <div className="dashboard">
        {reports.has('daySheet') && <PresentTile day={day} report={reports.get('daySheet') ?? ''} />}
        {reports.has('dailyFeeCollection') && (
          <CollectedTile day={day} report={reports.get('dailyFeeCollection') ?? ''} />
        )}
        {reports.has('outstandingAgeing') && (
          <OutstandingTile day={day} report={reports.get('outstandingAgeing') ?? ''} />
        )}
        {reports.has('collectionTrend') && (
          <TrendTile day={day} report={reports.get('collectionTrend') ?? ''} />
        )}
        {reports.has('feeDefaulters') && <DuesTile day={day} report={reports.get('feeDefaulters') ?? ''} />}
        {reports.has('attendanceShortage') && (
          <ShortageTile day={day} report={reports.get('attendanceShortage') ?? ''} />
        )}
        {mayDecide && <LeaveTile />}
        {reports.has('strength') && <StrengthTile report={reports.get('strength') ?? ''} />}
        {mayRead('result') && <ResultsTile />}
      </div>
      {reports.size === 0 && <EmptyState icon="chart" title={t('There is no report for your role')} />}
    </PageFrame>
  );
}

interface DayChoiceProps {
  readonly day: string;
  readonly today: string;
  onChoose(day: string): void;
}

function DayChoice({ day, today, onChoose }: DayChoiceProps) {
  const t = useTexts();
  return (
    <Group gap={4} wrap="nowrap">
      <ActionIcon
        size="input-sm"
        variant="default"
        onClick={() => onChoose(dayBefore(day, 1))}
        aria-label={t('The day before')}
      >
        <Icon name="left" />
      </ActionIcon>
      <TextInput
        type="date"
        value={day}
        max={today}
        onChange={(event) => event.currentTarget.value !== '' && onChoose(event.currentTarget.value)}
        aria-label={t('The day that is shown')}
      />
      <ActionIcon
        size="input-sm"
        variant="default"
        disabled={day >= today}
        onClick={() => onChoose(dayBefore(day, -1))}
        aria-label={t('The day after')}
      >
        <Icon name="right" />
      </ActionIcon>
    </Group>
  );
}

interface DayTileProps {
  readonly day: string;
  /** The name of the report, for its address. */
  readonly report: string;
}

function PresentTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Students present')}
      operation={PresentOnDay}
      variables={{ date: day }}
      report="daySheet"
      to={`/portal/reports/${report}`}
      search={{ date: day, run: '1' }}
      isWide
      show={({ daySheet: { totals } }) => {
        const present = totals.marked - totals.absent - totals.leave;
        if (totals.marked === 0)
          return (
            <EmptyState
              icon="check"
              title={t('No attendance is marked on {day}', { day: formats.day(day) })}
            />
          );
        const classes = [...Map.groupBy(totals.sections, (section) => section.class)];
        const sumOf = (sections: typeof totals.sections, of: 'absent' | 'leave' | 'marked') =>
          sections.reduce((sum, section) => sum + section[of], 0);
        return (
          <>
            <Figure
              value={`${formats.number(present)} / ${formats.number(totals.marked)}`}
              note={t('{absent} absent, {leave} on leave', {
                absent: formats.number(totals.absent),
                leave: formats.number(totals.leave),
              })}
            />
            <TileChart
              kind="stackedBar"
              title={t('Absent and on leave by class')}
              labels={classes.map(([name]) => name)}
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

function CollectedTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const say = useReportWords();
  const formats = useFormats();
  return (
    <Tile
      title={t('Collected on the day')}
      operation={CollectedOnDay}
      variables={{ day }}
      report="dailyFeeCollection"
      to={`/portal/reports/${report}`}
      search={{ from: day, to: day, paymentType: 'ALL', run: '1' }}
      show={({ dailyFeeCollection: { totals, currency } }) =>
        totals.receipts === 0 && totals.missingReceiptNumbers.length === 0 ? (
          <EmptyState icon="inbox" title={t('Nothing is collected on {day}', { day: formats.day(day) })} />
        ) : (
          <>
            <Figure
              value={formats.money(totals.total, currency)}
              note={t('{count, plural, one {# receipt} other {# receipts}}', { count: totals.receipts })}
            />
            {totals.missingReceiptNumbers.length > 0 && (
              <Figure
                value={totals.missingReceiptNumbers.slice(0, 5).join(', ')}
                note={t('receipt numbers are missing')}
              />
            )}
            {totals.receipts > 0 && (
              <TileChart
                kind="doughnut"
                title={t('Collected by way of paying')}
                labels={totals.paymentTypes.map(({ paymentType }) => say(nameOfEnumValue(paymentType)))}
                series={[
                  { name: t('Amount'), values: totals.paymentTypes.map(({ amount }) => Number(amount)) },
                ]}
                unit="money"
                currency={currency}
              />
            )}
          </>
        )
      }
    />
  );
}

function OutstandingTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Outstanding by age')}
      operation={OutstandingByAge}
      variables={{ asOn: day }}
      report="outstandingAgeing"
      to={`/portal/reports/${report}`}
      search={{ asOn: day, run: '1' }}
      show={({ outstandingAgeing: { totals, currency } }) =>
        totals.students === 0 ? (
          <EmptyState icon="check" title={t('Nobody owes fees')} />
        ) : (
          <>
            <Figure
              value={formats.money(totals.balance, currency)}
              note={t('{count, plural, one {of # student} other {of # students}}', {
                count: totals.students,
              })}
            />
            <TileChart
              kind="bar"
              title={t('Outstanding by days since it was due')}
              labels={['0–30', '31–60', '61–90', '> 90']}
              series={[
                {
                  name: t('Days since it was due'),
                  values: [totals.days0To30, totals.days31To60, totals.days61To90, totals.daysOver90].map(
                    Number,
                  ),
                },
              ]}
              unit="money"
              currency={currency}
            />
          </>
        )
      }
    />
  );
}

/** This session beside the same months a year ago, where there were any. */
function TrendTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  const from = startOfSession(day);
  return (
    <Tile
      title={t('Collection by month')}
      operation={CollectedByMonth}
      variables={{ from: monthsBefore(from, 12), to: day }}
      report="collectionTrend"
      to={`/portal/reports/${report}`}
      search={{ from, to: day, interval: 'MONTH', run: '1' }}
      isWide
      show={({ collectionTrend: { rows, currency } }) => {
        const totals = new Map(rows.map(({ start, total }) => [start.slice(0, 7), Number(total)]));
        const months = rows
          .map(({ start }) => start.slice(0, 7))
          .filter((month) => month >= from.slice(0, 7));
        const before = months.map((month) => totals.get(monthsBefore(`${month}-01`, 12).slice(0, 7)) ?? 0);
        const series = [{ name: t('This session'), values: months.map((month) => totals.get(month) ?? 0) }];
        const isKnown = before.some((total) => total > 0);
        if (!isKnown && series.every(({ values }) => values.every((total) => total === 0)))
          return <EmptyState icon="inbox" title={t('Nothing is collected in this session yet')} />;
        return (
          <>
            <Figure value={formats.money(series[0]?.values.at(-1) ?? 0, currency)} note={t('this month')} />
            <TileChart
              kind="bar"
              title={t('Collection by month')}
              labels={months.map((month) => formats.month(month))}
              series={isKnown ? [...series, { name: t('A year before'), values: before }] : series}
              unit="money"
              currency={currency}
            />
          </>
        );
      }}
    />
  );
}

function DuesTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  const months = { startMonth: startOfSession(day).slice(0, 7), endMonth: day.slice(0, 7) };
  return (
    <Tile
      title={t('Fee defaulters')}
      operation={LargestDues}
      variables={months}
      report="feeDefaulters"
      to={`/portal/reports/${report}`}
      search={{ ...months, run: '1' }}
      show={({ feeDefaulters: { rows, rowCount, currency } }) =>
        rowCount === 0 ? (
          <EmptyState icon="check" title={t('Nobody owes fees')} />
        ) : (
          <>
            <Figure value={formats.number(rowCount)} note={t('students owe fees')} />
            <Table fz="sm" verticalSpacing={4}>
              <Table.Tbody>
                {rows.map((row) => (
                  <Table.Tr key={row.admissionNo}>
                    <Table.Td>
                      {row.name} <span className="dimmed">{`${row.class} ${row.section}`}</span>
                    </Table.Td>
                    <Table.Td className="numeric one-line">{formats.money(row.balance, currency)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </>
        )
      }
    />
  );
}

function ShortageTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  const end = day.slice(0, 7);
  return (
    <Tile
      title={t('Short of attendance')}
      operation={ShortageByClass}
      variables={{ end }}
      report="attendanceShortage"
      to={`/portal/reports/${report}`}
      search={{ end, run: '1' }}
      show={({ attendanceShortage: { totals } }) =>
        totals.students === 0 ? (
          <EmptyState icon="users" title={t('There are no students with attendance yet')} />
        ) : (
          <>
            <Figure
              value={formats.number(totals.below)}
              note={t('of {count} students', { count: formats.number(totals.students) })}
            />
            <TileChart
              kind="bar"
              title={t('Students short of attendance by class')}
              labels={totals.classes.map((one) => one.class)}
              series={[{ name: t('Students'), values: totals.classes.map(({ below }) => below) }]}
              unit="number"
            />
          </>
        )
      }
    />
  );
}

function LeaveTile() {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Leave to decide')}
      operation={LeaveToDecide}
      variables={{}}
      report="leaveRequests"
      to="/portal/records/leave_request"
      search={{ oquery: 'status=pending', sort: '-from' }}
      show={({ records: { nodes } }) =>
        nodes.length === 0 ? (
          <EmptyState icon="check" title={t('Every request is decided')} />
        ) : (
          <Table fz="sm" verticalSpacing={4}>
            <Table.Tbody>
              {nodes.map(({ id, data }) => {
                const { name, from, to } = data as LeaveFields;
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
                    </Table.Td>
                    <Table.Td className="numeric">
                      <span className="unbroken">{from === undefined ? '' : formats.day(from)} –</span>{' '}
                      <span className="unbroken">{to === undefined ? '' : formats.day(to)}</span>
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

function StrengthTile({ report }: { readonly report: string }) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Strength')}
      operation={StrengthByClass}
      variables={{}}
      report="strength"
      to={`/portal/reports/${report}`}
      search={{ run: '1' }}
      show={({ strength: { rows, totals } }) => {
        if (totals.strength === 0) return <EmptyState icon="users" title={t('There are no students yet')} />;
        const classes = [...Map.groupBy(rows, (row) => row.class)];
        const sum = (of: 'boys' | 'girls') =>
          classes.map(([, sections]) => sections.reduce((count, section) => count + section[of], 0));
        return (
          <>
            <Figure value={formats.number(totals.strength)} note={t('students')} />
            <TileChart
              kind="stackedBar"
              title={t('Boys and girls by class')}
              labels={classes.map(([name]) => name)}
              series={[
                { name: t('Boys'), values: sum('boys') },
                { name: t('Girls'), values: sum('girls') },
              ]}
              unit="number"
            />
          </>
        );
      }}
    />
  );
}

function ResultsTile() {
  const t = useTexts();
  const say = useReportWords();
  return (
    <Tile
      title={t('Results by term')}
      operation={ResultsByTerm}
      variables={{}}
      to="/portal/records/result"
      show={({ resultsAggregate }) => {
        const terms = [...Map.groupBy(resultsAggregate, ({ key }) => String(key?.term ?? ''))];
        if (terms.length === 0) return <EmptyState icon="chart" title={t('There are no results yet')} />;
        const count = (isPublished: boolean) =>
          terms.map(([, groups]) =>
            groups
              .filter(({ key }) => key?.published === isPublished)
              .reduce((sum, group) => sum + group.count, 0),
          );
        return (
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
        );
      }}
    />
  );
}
