/** A report: its parameters as a form, its rows as a table and a chart, and the request that returns it. */

import { Alert, Card, Group, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { REPORT_FORMS } from '../../../generated/portal/report-forms';
import type { PrintHead } from '../../../school/prints/print-definition.js';
import { useViewer } from '../gateway/use-gateway';
import { sessionYearOf, startOfSession } from '../language/days';
import { nameOfColumn, nameOfEnumValue } from '../language/name-of-field';
import { formats, phrase, say, t } from '../language/texts';
import { PrintMenu } from '../prints/print-menu';
import { CodeSpans } from '../shell/code-to-copy';
import { Icon } from '../shell/icon';
import { PrintedOnly } from '../shell/lazy-sections';
import { PlainList } from '../shell/list-table';
import { PageTab, PageTabs, useAddress } from '../shell/page-filter';
import {
  EmptyState,
  LoadingState,
  lazyPart,
  NoRightState,
  NotFoundState,
  PageFrame,
  ProblemState,
} from '../shell/states';
import { TextButton } from '../shell/text-button';
import { type AskableReport, type AskedParameter, valueOfText } from './askable-report';
import { EarlierChoice, useEarlierReport } from './earlier-report';
import { ParametersForm } from './parameters-form';
import { useReportLinks } from './report-links';
import { ReportByEmail, ReportDownloads, ReportRequest } from './report-request';
import { ReportTable, ReportTotals } from './report-table';
import type { AnsweredReport } from './report-values';
import { ARRANGED, useReportAnswer } from './report-values';

const ReportChart = lazyPart(async () => (await import('./report-chart')).ReportChart, 8);

export function ReportDetailsPage() {
  const { report: name = '' } = useParams({ strict: false }) as { readonly report?: string };
  const report = useViewer().reports.find((one) => one.name === name);
  const form = REPORT_FORMS.find(({ field }) => field === report?.field);
  if (!report && REPORT_FORMS.some(({ field }) => nameInAddress(field) === name))
    return <NoRightState label={phrase('Report')} />;
  if (!report || !form) return <NotFoundState above={[{ label: t('Reports'), to: '/portal/reports' }]} />;
  return <AskedReport key={name} report={report} form={form} />;
}

/** The name of a report that `me` does not list: `fee-summary` for `feeSummary`. */
function nameInAddress(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

interface AskedReportProps {
  readonly report: { readonly name: string; readonly title: string; readonly description: string };
  readonly form: AskableReport;
}

function AskedReport({ report, form }: AskedReportProps) {
  const defaults = Object.fromEntries(form.parameters.map(({ name }) => [name, '']));
  const [{ run, sort, find, compare, ...written }, change] = useAddress({
    ...{ ...defaults, ...ARRANGED },
    ...{ run: '', compare: '' },
  });
  const values = withDefaults(form, written, useViewer().sessionFirstMonth);
  const variables = variablesOf(form, values);
  const isComplete = form.parameters.every(({ name, isRequired }) => !isRequired || values[name] !== '');
  const isAsked = isComplete && (run !== '' || !form.parameters.some(({ isRequired }) => isRequired));
  const answer = useReportAnswer(form, {
    variables,
    isEnabled: isAsked,
    isWhole: sort !== '' || find !== '' || compare !== '',
  });
  const { first, rows, error, refetch, isFetching } = answer;
  const earlier = useEarlierReport(form, { variables, now: answer, compare });
  const linkOf = useReportLinks(form, { ...first?.parameters, ...variables });
  return (
    <PageFrame
      title={report.title}
      description={<CodeSpans text={say(report.description)} />}
      above={[{ label: t('Reports'), to: '/portal/reports' }]}
      actions={
        rows.length > 0 && (
          <>
            <ReportDownloads name={report.name} form={form} values={values} />
            <ReportByEmail {...report} form={form} values={values} />
            <PrintMenu report={report.name} address={(print) => printAddress(print, values)} />
          </>
        )
      }
    >
      <Stack>
        {form.parameters.length > 0 && (
          <AskedAbout form={form} values={values} isAsked={isAsked && !error}>
            <ParametersForm
              form={form}
              values={values}
              isBusy={isFetching}
              onRun={(next) => {
                // The address does not change if the same report is run again, e.g. after an error.
                const isAsBefore = Object.keys(next).every((name) => next[name] === values[name]);
                if (isAsked && isAsBefore) void refetch();
                else change({ ...next, run: '1' });
              }}
            />
          </AskedAbout>
        )}
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!error && isAsked && !first && <LoadingState rows={10} />}
        {!isAsked && <EmptyState icon="chart" title={t('Choose the options, then run the report')} />}
        {first && (
          <>
            <Warnings answer={first} />
            <EarlierChoice
              {...{ earlier, compare }}
              parameters={first.parameters}
              about={sayParameters(form, earlier.changed ?? {})}
              onCompare={(next) => change({ compare: next })}
            />
            {first.totals && <ReportTotals {...{ form, answer, linkOf, earlier }} />}
            {rows.length === 0 && (
              <EmptyState icon="chart" title={t('No rows')}>
                {t('No records match these options.')}
              </EmptyState>
            )}
            {rows.length > 0 && (
              <PageTabs>
                <PageTab name="table" label={t('Table')}>
                  <ReportTable {...{ form, answer, linkOf, earlier }} label={report.title} />
                </PageTab>
                <PageTab name="chart" label={t('Chart')}>
                  <ReportChart form={form} rows={rows} currency={first.currency} title={report.title} />
                </PageTab>
                <PageTab name="request" label={t('Request')}>
                  <ReportRequest name={report.name} form={form} values={values} variables={variables} />
                </PageTab>
              </PageTabs>
            )}
          </>
        )}
      </Stack>
    </PageFrame>
  );
}

/** The parameters of the report as the choices of a document. */
function printAddress({ by = [], copy = {} }: PrintHead, values: Values): Readonly<Record<string, string>> {
  const set = by.map((field) => values[field] ?? '');
  const record = Object.entries(copy).map(([variable, field]) => [field, { equals: values[variable] }]);
  return {
    ...values,
    ...(set.length > 0 && set.every((value) => value !== '') && { set: set.join('|') }),
    ...(record.length > 0 && { where: JSON.stringify(Object.fromEntries(record)) }),
  };
}

interface AskedAboutProps {
  readonly form: AskableReport;
  readonly values: Values;
  /** Whether the report was run, and the gateway did not refuse it. */
  readonly isAsked: boolean;
  /** The form. */
  readonly children: ReactNode;
}

/** The parameters above the answer. The form is folded when the report is run, and opened by a fault. */
function AskedAbout({ form, values, isAsked, children }: AskedAboutProps) {
  const [isOpen, setIsOpen] = useState(!isAsked);
  const said = sayParameters(form, values);
  const button = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is folded again when the parameters change.
  useEffect(() => {
    if (!isOpen || !isAsked) return;
    setIsOpen(false);
    button.current?.focus();
  }, [said, isAsked]);
  return (
    <>
      <PrintedOnly>
        <Text>{said}</Text>
      </PrintedOnly>
      <Card withBorder padding="md" className="no-print">
        {isAsked && (
          <Group justify="space-between" wrap="nowrap">
            <Text className="wrapped">{said === '' ? t('Default options') : said}</Text>
            <TextButton
              label={t('Change')}
              ref={button}
              flex="none"
              size="compact-sm"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            />
          </Group>
        )}
        {(!isAsked || isOpen) && children}
      </Card>
    </>
  );
}

type Values = Readonly<Record<string, string>>;

/** The parameters that have values, as text. */
function sayParameters({ parameters }: AskableReport, values: Values): string {
  const sayValue = ({ name, type, choices }: AskedParameter): string => {
    const value = values[name] ?? '';
    if (value === '') return '';
    if (type === 'LocalDate') return formats.day(value);
    if (type === 'Month') return formats.month(value);
    if (type === 'Boolean') return value === 'true' ? t('yes') : t('no');
    if (isSpan(name) && MONTH.test(value)) return formats.month(value);
    if (isSpan(name) && DAY.test(value)) return formats.day(value);
    return choices ? say(nameOfEnumValue(value)) : value;
  };
  return parameters
    .map((parameter) => [say(nameOfColumn(parameter.name)), sayValue(parameter)])
    .filter(([, value]) => value !== '')
    .map((parts) => parts.join(': '))
    .join(' · ');
}

const MONTH = /^\d{4}-\d{2}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The first or last day or month of some reports. It is text, because it may be either. */
function isSpan(name: string): boolean {
  return name === 'start' || name === 'end';
}

/** Required parameters that are missing get the most common value: the session so far, the first choice. */
function withDefaults({ parameters }: AskableReport, written: Values, firstMonth: number): Values {
  const { today } = formats;
  return Object.fromEntries(
    parameters.map(({ name, type, isRequired, choices }) => {
      const value = written[name] ?? '';
      if (value !== '' || !isRequired) return [name, value];
      if (type === 'LocalDate') return [name, today];
      if (name === 'startMonth') return [name, startOfSession(today, firstMonth).slice(0, 7)];
      if (type === 'Month' || (isSpan(name) && type === 'String')) return [name, today.slice(0, 7)];
      if (name === 'session' && type === 'String') return [name, sessionYearOf(today, firstMonth)];
      return [name, choices?.includes('ALL') ? 'ALL' : (choices?.[0] ?? '')];
    }),
  );
}

function variablesOf({ parameters }: AskableReport, values: Values): Readonly<Record<string, unknown>> {
  const given = parameters.filter(({ name }) => values[name] !== '');
  return Object.fromEntries(given.map((one) => [one.name, valueOfText(one, values[one.name] ?? '')]));
}

function Warnings({ answer }: { readonly answer: AnsweredReport }) {
  if (answer.warnings.length === 0) return null;
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<Icon name="warning" />}
      title={t('Records the report could not count')}
    >
      <PlainList lines={answer.warnings.map(({ reason, count }) => `${count} × ${reason}`)} />
    </Alert>
  );
}
