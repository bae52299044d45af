/** The figures of a day and the tiles below them: the query, the content and the link of each. */
import { Anchor, Skeleton, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  CollectedByMonth,
  CollectedOnDay,
  LargestDues,
  LeaveToDecide,
  OutstandingByAge,
  PresentOnDay,
  type PresentOnDayQuery,
  ResultsByTerm,
  ShortageByClass,
  StrengthByClass,
} from '../../../generated/portal/home/home';
import { useNameOfReport, useOperation, useViewer } from '../gateway/use-gateway';
import { dayBefore, monthsBefore, sessionYearOf, startOfSession } from '../language/days';
import { nameOfEnumValue } from '../language/name-of-field';
import { formats, say, t } from '../language/texts';
import { type PortalOperation } from '../session/graphql-headers';
import { searchOf, TextLink } from '../shell/text-button';
import { type DaySource, DayTile, type ShownTile, type Sourced } from './tile';

type DayTotals = PresentOnDayQuery['daySheet']['totals'];

/** With more names, only their number is shown. */
const MOST_UNMARKED = 12;
const MOST_ABSENTEES = 6;
/** Up to so many sections are probably those of a teacher, and are named. */
const MOST_OWN_SECTIONS = 3;

function placeOf(one: { readonly class: string; readonly section: string }): string {
  return `${one.class} ${one.section}`;
}

/** The operations of a day. Tiles, figures and the list of open tasks share their answers. */
export function useDaySources(day: string) {
  const nameOfReport = useNameOfReport();
  const { collections, sessionFirstMonth } = useViewer();
  const source = <Result, Variables extends object>(
    operation: PortalOperation<Result, Variables>,
    report: string,
    variables: Variables,
    search: object = variables,
  ): DaySource<Result, Variables> | undefined => {
    const name = nameOfReport(report);
    const to = `/portal/reports/${name}`;
    return name === undefined
      ? undefined
      : { operation, variables, report, to, search: { ...search, run: '1' } };
  };
  const start = startOfSession(day, sessionFirstMonth);
  const session = sessionYearOf(day, sessionFirstMonth);
  const before = dayBefore(day, -1);
  const may = (collection: string, right: 'canRead' | 'canUpdate') =>
    collections.some((one) => one.name === collection && one[right]);
  const ofDay = { from: day, to: day, paymentType: 'ALL' };
  const trend = { from: start, to: day, interval: 'MONTH' };
  const dues = {
    startMonth: monthsBefore(start, 12).slice(0, 7),
    endMonth: monthsBefore(start, -11).slice(0, 7),
  };
  return {
    present: source(PresentOnDay, 'daySheet', { date: day }),
    shortage: source(ShortageByClass, 'attendanceShortage', { end: day }),
    trend: source(CollectedByMonth, 'collectionTrend', { from: monthsBefore(start, 12), to: day }, trend),
    outstanding: source(OutstandingByAge, 'outstandingAgeing', { asOn: day }),
    collected: source(CollectedOnDay, 'dailyFeeCollection', { day }, ofDay),
    dues: source(LargestDues, 'feeDefaulters', { ...dues, asOn: day }),
    strength: source(StrengthByClass, 'strength', { session, date: day }),
    results: may('result', 'canRead')
      ? {
          ...{ operation: ResultsByTerm, variables: { session }, to: '/portal/records/result' },
          search: { oquery: `session=${session}` },
        }
      : undefined,
    leave: may('leave_request', 'canUpdate')
      ? {
          ...{ operation: LeaveToDecide, variables: { before }, to: '/portal/records/leave_request' },
          search: { oquery: `status=pending,created_on=<${before}`, sort: '-from' },
          report: 'leaveRequests',
        }
      : undefined,
  };
}

export function DayTiles({ day }: { readonly day: string }) {
  const start = startOfSession(day, useViewer().sessionFirstMonth);
  const { present, shortage, trend, outstanding, collected, dues, strength, results, leave } =
    useDaySources(day);
  const shownDay = formats.day(day);

  /** Why there are no marks: the day is no school day, or nobody has marked it yet. */
  const nothingMarked = ({ holiday, isSchoolDay }: DayTotals): ShownTile => {
    const words = { day: shownDay, holiday };
    if (holiday !== null) return { empty: ['inbox', t('{day} is a holiday: {holiday}', words)] };
    if (isSchoolDay === false) return { empty: ['inbox', t('{day} is not a school day', words)] };
    return { empty: ['inbox', t('No attendance was marked on {day}', words)] };
  };
  /** The sections without marks, which the figures do not contain. On a day off, marks do not count. */
  const notCounted = ({ isSchoolDay, holiday, unmarked }: DayTotals): string | undefined => {
    if (isSchoolDay === false)
      return holiday === null
        ? t('This is not a school day: its marks do not count.')
        : t('This is a holiday ({holiday}): its marks do not count.', { holiday });
    if (unmarked.length === 0) return undefined;
    const places = unmarked.slice(0, MOST_UNMARKED).map(placeOf);
    const rest = unmarked.length - places.length;
    if (rest > 0) places.push(t('and {count, number} more', { count: rest }));
    return t('Not marked yet: {sections}', { sections: places.join(', ') });
  };
  const byAmount = (parts: readonly (readonly [name: string, amount: string | number])[], currency: string) =>
    parts.map(([name, amount]) => ({
      ...{ name, value: Number(amount) },
      text: formats.money(amount, currency),
    }));
  const largestFirst = (parts: ReturnType<typeof byAmount>) =>
    parts.toSorted((one, other) => other.value - one.value);
  const nameIn = (name: string, place: string) => (
    <>
      {name} <span className="dimmed">{place}</span>
    </>
  );
  return (
    <>
      <DayTile
        of={present}
        title={t('Absent by class')}
        isWide
        show={({ daySheet: { totals } }) => {
          if (totals.marked === 0) return nothingMarked(totals);
          const chart = byClass(totals.sections, {
            [t('Absent')]: ({ absent }) => absent,
            [t('On leave')]: (section) => section.leave,
          });
          return { notice: notCounted(totals), chart };
        }}
      />
      <DayTile
        of={present}
        title={t('Absentees')}
        show={({ daySheet: { rows, totals } }) => {
          if (totals.marked === 0) return nothingMarked(totals);
          const absent = rows.filter(({ status }) => status === 'absent').slice(0, MOST_ABSENTEES);
          if (absent.length === 0)
            return {
              empty: ['check', t('No one is absent on {day}', { day: shownDay })],
              notice: notCounted(totals),
            };
          return {
            figure: [formats.number(totals.absent), t('students are absent')],
            rows: absent.map((row) => [
              row.studentId,
              nameIn(row.name ?? row.studentId, `${row.class} ${row.section}`),
              row.phone && <Anchor href={`tel:${row.phone.replaceAll(/[^+\d]/g, '')}`}>{row.phone}</Anchor>,
            ]),
          };
        }}
      />
      <DayTile
        of={shortage}
        title={t('Low attendance')}
        show={({ attendanceShortage: { totals } }) =>
          totals.students === 0
            ? { empty: ['users', t('No attendance yet')] }
            : {
                figure: [
                  formats.number(totals.below),
                  t('of {count} students', { count: formats.number(totals.students) }),
                ],
                chart: {
                  kind: 'bar',
                  labels: totals.classes.map((one) => one.class),
                  labelled: t('Class'),
                  series: [{ name: t('Students'), values: totals.classes.map(({ below }) => below) }],
                },
              }
        }
      />
      <DayTile
        of={trend}
        title={t('Collection by month')}
        isWide
        // This session beside the same months a year ago, if there were any.
        show={({ collectionTrend: { rows, currency } }) => {
          const totals = new Map(rows.map(({ start: first, total }) => [first.slice(0, 7), Number(total)]));
          const months = [...totals.keys()].filter((month) => month >= start.slice(0, 7));
          const now = months.map((month) => totals.get(month) ?? 0);
          const before = months.map((month) => totals.get(monthsBefore(`${month}-01`, 12).slice(0, 7)) ?? 0);
          const isKnown = before.some((total) => total > 0);
          if (!isKnown && now.every((total) => total === 0))
            return { empty: ['inbox', t('Nothing has been collected this session')] };
          const series = [{ name: t('This session'), values: now }];
          return {
            figure: [sayLarge(now.at(-1) ?? 0, currency), t('this month')],
            chart: {
              ...{ kind: 'bar', unit: 'money', currency },
              labels: months.map((month, index) =>
                index === 0 || month.endsWith('-01') ? formats.month(month) : formats.shortMonth(month),
              ),
              series: isKnown ? [...series, { name: t('Last year'), values: before }] : series,
            },
          };
        }}
      />
      <DayTile
        of={outstanding}
        title={t('Outstanding by age')}
        show={({ outstandingAgeing: { totals, currency } }) =>
          totals.students === 0
            ? { empty: ['check', t('No fees are outstanding')] }
            : {
                bars: byAmount(
                  [
                    [t('{days} days', { days: '0–30' }), totals.days0To30],
                    [t('{days} days', { days: '31–60' }), totals.days31To60],
                    [t('{days} days', { days: '61–90' }), totals.days61To90],
                    [t('More than {days} days', { days: 90 }), totals.daysOver90],
                  ],
                  currency,
                ),
              }
        }
      />
      <DayTile
        of={collected}
        title={t('Collected by payment type')}
        show={({ dailyFeeCollection: { totals, currency } }) => {
          const missing = totals.missingReceiptNumbers.slice(0, 5);
          if (totals.receipts === 0 && missing.length === 0)
            return { empty: ['inbox', t('Nothing was collected on {day}', { day: shownDay })] };
          const ways = totals.paymentTypes.map(
            ({ paymentType, amount }) => [say(nameOfEnumValue(paymentType)), amount] as const,
          );
          return {
            ...(missing.length > 0 && { figure: [missing.join(', '), t('receipt numbers are missing')] }),
            bars: largestFirst(byAmount(ways, currency)).filter(({ value }) => value !== 0),
          };
        }}
      />
      <DayTile
        of={collected}
        title={t('Collected by fee head')}
        show={({ dailyFeeCollection: { totals, currency } }) =>
          totals.heads.length === 0
            ? { empty: ['inbox', t('Nothing was collected on {day}', { day: shownDay })] }
            : {
                bars: largestFirst(
                  byAmount(
                    totals.heads.map(({ feeHead, amount }) => [feeHead, amount]),
                    currency,
                  ),
                ),
              }
        }
      />
      <DayTile
        of={dues}
        title={t('Fee defaulters')}
        show={({ feeDefaulters: { rows, rowCount, currency } }) =>
          rowCount === 0
            ? { empty: ['check', t('No fees are outstanding')] }
            : {
                figure: [formats.number(rowCount), t('students owe fees')],
                rows: rows.map((row) => [
                  row.admissionNo,
                  nameIn(row.name, `${row.class} ${row.section}`),
                  formats.money(row.balance, currency),
                ]),
              }
        }
      />
      <DayTile
        of={strength}
        title={t('Strength')}
        show={({ strength: { rows, totals } }) => {
          if (totals.strength === 0) return { empty: ['users', t('No students yet')] };
          const chart = byClass(rows, {
            [t('Boys')]: ({ boys }) => boys,
            [t('Girls')]: ({ girls }) => girls,
            ...(rows.some(({ other }) => other > 0) && { [t('Other')]: ({ other }) => other }),
          });
          return { figure: [formats.number(totals.strength), t('students')], chart };
        }}
      />
      <DayTile
        of={results}
        title={t('Results by term')}
        show={({ resultsAggregate }) => {
          const terms = [...Map.groupBy(resultsAggregate, ({ key }) => String(key?.term ?? ''))];
          if (terms.length === 0) return { empty: ['chart', t('No results yet')] };
          const counts = [true, false].map((isPublished) =>
            terms.map(([, groups]) =>
              sum(groups.map(({ key, count }) => (key?.published === isPublished ? count : 0))),
            ),
          );
          const [published = [], others = []] = counts;
          return {
            figure: [
              formats.number(sum(published)),
              t('of {count, plural, one {# result} other {# results}} are published', {
                count: sum(published) + sum(others),
              }),
            ],
            chart: {
              kind: 'stackedBar',
              labels: terms.map(([term]) => say(nameOfEnumValue(term))),
              series: [
                { name: t('Published'), values: published },
                { name: t('Not published'), values: others },
              ],
            },
          };
        }}
      />
      <DayTile
        of={leave}
        title={t('Leave to approve')}
        show={({ records: { nodes } }) =>
          nodes.length === 0
            ? { empty: ['check', t('No requests are waiting')] }
            : {
                rows: nodes.map(({ id, data }) => {
                  const { name, from, to } = data as LeaveFields;
                  return [
                    id,
                    <>
                      <TextLink to={`${leave?.to}/${encodeURIComponent(id)}`}>{name?.label ?? id}</TextLink>
                      <div className="dimmed">
                        <span className="unbroken">{from && formats.day(from)} –</span>{' '}
                        <span className="unbroken">{to && formats.day(to)}</span>
                      </div>
                    </>,
                  ];
                }),
              }
        }
      />
    </>
  );
}

interface LeaveFields {
  readonly name?: { readonly label?: string };
  readonly from?: string;
  readonly to?: string;
}

/** A bar for each class, with a part for each count of its sections, by the title of the count. */
function byClass<Section extends { readonly class: string }>(
  sections: readonly Section[],
  counts: Readonly<Record<string, (section: Section) => number>>,
) {
  const classes = [...Map.groupBy(sections, (section) => section.class)];
  const labels = classes.map(([name]) => name);
  const series = Object.entries(counts).map(([name, count]) => ({
    name,
    values: classes.map(([, ofClass]) => sum(ofClass.map(count))),
  }));
  return { kind: 'stackedBar', labels, labelled: t('Class'), series } as const;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Prints a lakh or more without paise, which the page behind the figure shows. */
function sayLarge(amount: string | number, currency: string): string {
  const value = Number(amount);
  return value < 100_000 ? formats.money(value, currency) : formats.shortMoney(value, currency);
}

/** The main figures of a day, above the tiles. Each links to the records or report that it counts. */
export function Headline({ day }: { readonly day: string }) {
  const { present, collected, outstanding, leave } = useDaySources(day);
  if (!present && !collected && !outstanding) return null;
  const dated = (title: string) => `${title} · ${formats.day(day)}`;
  return (
    <section className="headline" aria-label={t('The day in figures')}>
      <HeadlineFigure
        of={present}
        title={dated(t('Students present'))}
        show={({ daySheet: { totals } }) => {
          const { isSchoolDay, holiday, marked, absent, leave: onLeave, sections } = totals;
          if (isSchoolDay === false)
            return ['–', holiday === null ? t('No school day') : t('Holiday: {holiday}', { holiday })];
          if (marked === 0) return ['–', t('No attendance marked')];
          const there = marked - absent - onLeave;
          const own = sections.length > MOST_OWN_SECTIONS ? [] : sections.map(placeOf);
          const counted = { present: formats.number(there), marked: formats.number(marked) };
          return [
            formats.percent(Math.round((there / marked) * 1000) / 10),
            [t('{present} of {marked}', counted), ...own].join(' · '),
          ];
        }}
      />
      <HeadlineFigure
        of={collected}
        title={dated(t('Fees collected'))}
        show={({ dailyFeeCollection: { totals, currency } }) => [
          sayLarge(totals.total, currency),
          t('{count, plural, one {# receipt} other {# receipts}}', { count: totals.receipts }),
        ]}
      />
      <HeadlineFigure
        of={outstanding}
        title={dated(t('Fees outstanding'))}
        show={({ outstandingAgeing: { totals, currency } }) => [
          sayLarge(totals.balance, currency),
          t('{count, plural, one {# student} other {# students}}', { count: totals.students }),
        ]}
      />
      <HeadlineFigure
        of={leave}
        title={t('Leave requests')}
        show={({ records: { nodes, pageInfo } }) => [
          `${nodes.length}${pageInfo.hasNextPage ? '+' : ''}`,
          t('waiting for a decision'),
        ]}
      />
    </section>
  );
}

interface HeadlineFigureProps<Result, Variables> {
  readonly of: DaySource<Result, Variables>;
  readonly title: string;
  /** The figure, and a note on what it counts. */
  show(result: Result): readonly [value: string, note: string];
}

function HeadlineFigure<Result, Variables>(props: Sourced<HeadlineFigureProps<Result, Variables>>) {
  const { of } = props;
  return of && <KnownFigure {...props} of={of} />;
}

function KnownFigure<Result, Variables>({ of, title, show }: HeadlineFigureProps<Result, Variables>) {
  const { data, error } = useOperation(of.operation, of.variables, { keepsPrevious: true });
  // The tile with the same operation shows the error, with a way to try again.
  const [value, note]: readonly [ReactNode, ReactNode] =
    data === undefined ? [error ? '–' : <Skeleton key="value" height={28} width={110} />, ' '] : show(data);
  return (
    <Link to={of.to} search={searchOf(of.search)} className="headline-figure">
      <Text component="span" c="dimmed" fw={500}>
        {title}
      </Text>
      <span className="headline-value">{value}</span>
      <Text component="span" c="dimmed">
        {note}
      </Text>
    </Link>
  );
}
