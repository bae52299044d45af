/** The main figures of a day, above the tiles. Each links to the records or report that it counts. */
import { Skeleton, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import {
  CollectedOnDay,
  LeaveToDecide,
  OutstandingByAge,
  PresentOnDay,
} from '../../../generated/portal/home/home';
import { useNameOfReport, useOperation, useViewer } from '../gateway/use-gateway';
import { dayBefore } from '../language/days';
import { useFormats, useTexts } from '../language/use-texts';
import type { PortalOperation } from '../session/graphql-headers';
import { type DayTileProps, leaveToDecide } from './tile';

/** Uses the operations of the tiles below, so that no figure costs a request of its own. */
export function Headline({ day }: Pick<DayTileProps, 'day'>) {
  const t = useTexts();
  const nameOfReport = useNameOfReport();
  const { collections } = useViewer();
  const [daySheet, collection, ageing] = ['daySheet', 'dailyFeeCollection', 'outstandingAgeing'].map(
    nameOfReport,
  );
  const mayDecide = collections.some((one) => one.name === 'leave_request' && one.canUpdate);
  if (!daySheet && !collection && !ageing) return null;
  return (
    <section className="headline" aria-label={t('The day in figures')}>
      {daySheet && <PresentFigure day={day} report={daySheet} />}
      {collection && <CollectedFigure day={day} report={collection} />}
      {ageing && <OutstandingFigure day={day} report={ageing} />}
      {mayDecide && <LeaveFigure day={day} />}
    </section>
  );
}

function PresentFigure({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <HeadlineFigure
      title={t('Students present')}
      operation={PresentOnDay}
      variables={{ date: day }}
      to={`/portal/reports/${report}`}
      search={{ date: day, run: '1' }}
      show={({ daySheet: { totals } }) => {
        if (totals.isSchoolDay === false)
          return ['–', totals.holiday === null ? t('No school day') : t('Holiday: {holiday}', totals)];
        if (totals.marked === 0) return ['–', t('No attendance marked')];
        const present = totals.marked - totals.absent - totals.leave;
        const marked = formats.number(totals.marked);
        return [
          formats.percent(Math.round((present / totals.marked) * 1000) / 10),
          t('{present} of {marked}', { present: formats.number(present), marked }),
        ];
      }}
    />
  );
}

function CollectedFigure({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <HeadlineFigure
      title={t('Fees collected')}
      operation={CollectedOnDay}
      variables={{ day }}
      to={`/portal/reports/${report}`}
      search={{ from: day, to: day, paymentType: 'ALL', run: '1' }}
      show={({ dailyFeeCollection: { totals, currency } }) => [
        formats.money(totals.total, currency),
        t('{count, plural, one {# receipt} other {# receipts}}', { count: totals.receipts }),
      ]}
    />
  );
}

function OutstandingFigure({ day, report }: DayTileProps) {
  const t = useTexts();
  const formats = useFormats();
  return (
    <HeadlineFigure
      title={t('Fees outstanding')}
      operation={OutstandingByAge}
      variables={{ asOn: day }}
      to={`/portal/reports/${report}`}
      search={{ asOn: day, run: '1' }}
      show={({ outstandingAgeing: { totals, currency } }) => [
        formats.money(totals.balance, currency),
        t('{count, plural, one {# student} other {# students}}', { count: totals.students }),
      ]}
    />
  );
}

function LeaveFigure({ day }: Pick<DayTileProps, 'day'>) {
  const t = useTexts();
  return (
    <HeadlineFigure
      title={t('Leave requests')}
      operation={LeaveToDecide}
      variables={{ before: dayBefore(day, -1) }}
      to="/portal/records/leave_request"
      search={leaveToDecide(day)}
      show={({ records: { nodes, pageInfo } }) => [
        `${nodes.length}${pageInfo.hasNextPage ? '+' : ''}`,
        t('waiting for a decision'),
      ]}
    />
  );
}

interface HeadlineFigureProps<Result, Variables> {
  readonly title: string;
  readonly operation: PortalOperation<Result, Variables>;
  readonly variables: Variables;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
  /** The figure, and a note on what it counts. */
  readonly show: (result: Result) => readonly [value: string, note: string];
}

function HeadlineFigure<Result, Variables>(props: HeadlineFigureProps<Result, Variables>) {
  const { title, operation, variables, to, search, show } = props;
  const { data, error } = useOperation(operation, variables, { keepsPrevious: true });
  // The tile with the same operation shows the error, with a way to try again.
  const [value, note]: readonly [ReactNode, ReactNode] =
    data === undefined ? [error ? '–' : <Skeleton key="value" height={28} width={110} />, ' '] : show(data);
  return (
    <Link to={to} search={search as never} className="headline-figure">
      <Text component="span" size="sm" c="dimmed" fw={500}>
        {title}
      </Text>
      <span className="headline-value">{value}</span>
      <Text component="span" size="sm" c="dimmed">
        {note}
      </Text>
    </Link>
  );
}
