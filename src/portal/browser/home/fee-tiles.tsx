/** The tiles of the dashboard about fees. */
import { Table } from '@mantine/core';
import {
  CollectedByMonth,
  CollectedOnDay,
  LargestDues,
  OutstandingByAge,
} from '../../../generated/portal/home/home';
import { useNameOfReport, useViewer } from '../gateway/use-gateway';
import { monthsBefore, startOfSession } from '../language/days';
import { nameOfEnumValue } from '../language/name-of-field';
import { useFormats, useReportWords, useTexts } from '../language/use-texts';
import { EmptyState } from '../shell/states';
import { BarList, type DayTileProps, Figure, Tile, TileChart } from './tile';

export function FeeTiles({ day }: Pick<DayTileProps, 'day'>) {
  const nameOfReport = useNameOfReport();
  const [collection, trend] = ['dailyFeeCollection', 'collectionTrend'].map(nameOfReport);
  const [ageing, defaulters] = ['outstandingAgeing', 'feeDefaulters'].map(nameOfReport);
  return (
    <>
      {trend && <TrendTile day={day} report={trend} />}
      {ageing && <OutstandingTile day={day} report={ageing} />}
      {collection && <CollectedTile day={day} report={collection} />}
      {collection && <CollectedByHeadTile day={day} report={collection} />}
      {defaulters && <DuesTile day={day} report={defaulters} />}
    </>
  );
}

function CollectedTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const say = useReportWords();
  const formats = useFormats();
  return (
    <Tile
      title={t('Collected by payment type')}
      operation={CollectedOnDay}
      variables={{ day }}
      report="dailyFeeCollection"
      to={`/portal/reports/${report}`}
      search={{ from: day, to: day, paymentType: 'ALL', run: '1' }}
      show={({ dailyFeeCollection: { totals, currency } }) =>
        totals.receipts === 0 && totals.missingReceiptNumbers.length === 0 ? (
          <EmptyState icon="inbox" title={t('Nothing was collected on {day}', { day: formats.day(day) })} />
        ) : (
          <>
            {totals.missingReceiptNumbers.length > 0 && (
              <Figure
                value={totals.missingReceiptNumbers.slice(0, 5).join(', ')}
                note={t('receipt numbers are missing')}
              />
            )}
            <BarList
              title={t('Collected by payment type')}
              parts={totals.paymentTypes
                .filter(({ amount }) => Number(amount) !== 0)
                .map(({ paymentType, amount }) => ({
                  name: say(nameOfEnumValue(paymentType)),
                  value: Number(amount),
                  text: formats.money(amount, currency),
                }))
                .toSorted((one, other) => other.value - one.value)}
            />
          </>
        )
      }
    />
  );
}

/** Of the same answer as `CollectedTile`, so that it costs no request of its own. */
function CollectedByHeadTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <Tile
      title={t('Collected by fee head')}
      operation={CollectedOnDay}
      variables={{ day }}
      report="dailyFeeCollection"
      to={`/portal/reports/${report}`}
      search={{ from: day, to: day, paymentType: 'ALL', run: '1' }}
      show={({ dailyFeeCollection: { totals, currency } }) => {
        const heads = totals.heads.toSorted((one, other) => Number(other.amount) - Number(one.amount));
        return heads.length === 0 ? (
          <EmptyState icon="inbox" title={t('Nothing was collected on {day}', { day: formats.day(day) })} />
        ) : (
          <BarList
            title={t('Collected by fee head')}
            parts={heads.map(({ feeHead, amount }) => ({
              name: feeHead,
              value: Number(amount),
              text: formats.money(amount, currency),
            }))}
          />
        );
      }}
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
          <EmptyState icon="check" title={t('No fees are outstanding')} />
        ) : (
          <BarList
            title={t('Outstanding by days overdue')}
            parts={[
              { name: t('{days} days', { days: '0–30' }), amount: totals.days0To30 },
              { name: t('{days} days', { days: '31–60' }), amount: totals.days31To60 },
              { name: t('{days} days', { days: '61–90' }), amount: totals.days61To90 },
              { name: t('More than {days} days', { days: 90 }), amount: totals.daysOver90 },
            ].map(({ name, amount }) => ({
              name,
              value: Number(amount),
              text: formats.money(amount, currency),
            }))}
          />
        )
      }
    />
  );
}

/** This session beside the same months a year ago, where there were any. */
function TrendTile({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  const { sessionFirstMonth } = useViewer();
  const from = startOfSession(day, sessionFirstMonth);
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
          return <EmptyState icon="inbox" title={t('Nothing has been collected this session')} />;
        return (
          <>
            <Figure value={formats.money(series[0]?.values.at(-1) ?? 0, currency)} note={t('this month')} />
            <TileChart
              kind="bar"
              title={t('Collection by month')}
              labels={months.map((month, index) =>
                index === 0 || month.endsWith('-01') ? formats.month(month) : formats.shortMonth(month),
              )}
              series={isKnown ? [...series, { name: t('Last year'), values: before }] : series}
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
  const { sessionFirstMonth } = useViewer();
  const start = startOfSession(day, sessionFirstMonth);
  const asked = {
    startMonth: monthsBefore(start, 12).slice(0, 7),
    endMonth: monthsBefore(start, -11).slice(0, 7),
    asOn: day,
  };
  return (
    <Tile
      title={t('Fee defaulters')}
      operation={LargestDues}
      variables={asked}
      report="feeDefaulters"
      to={`/portal/reports/${report}`}
      search={{ ...asked, run: '1' }}
      show={({ feeDefaulters: { rows, rowCount, currency } }) =>
        rowCount === 0 ? (
          <EmptyState icon="check" title={t('No fees are outstanding')} />
        ) : (
          <>
            <Figure value={formats.number(rowCount)} note={t('students owe fees')} />
            <Table fz="sm" verticalSpacing={4} aria-label={t('Fee defaulters')}>
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
