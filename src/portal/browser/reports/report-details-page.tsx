/** A report: its parameters as a form, its rows as a table and a chart, and the request that returns it. */

import { Alert, Card, Group, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { REPORT_FORMS } from '../../../generated/portal/report-forms';
import { fillVariables } from '../../explore/example-operation';
import { useViewer } from '../gateway/use-gateway';
import { nameOfColumn, nameOfEnumValue } from '../language/name-of-field';
import { formats, phrase, say, t } from '../language/texts';
import { type PrintHead, PrintMenu } from '../prints/print-menu';
import { CodeSpans } from '../shell/code-to-copy';
import { Icon } from '../shell/icon';
import { PrintedOnly } from '../shell/in-turns';
import { PlainList } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { PageTab, PageTabs } from '../shell/page-tabs';
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
import type { AskableReport } from './askable-report';
import { ParametersForm } from './parameters-form';
import { ARRANGED, useReportAnswer } from './report-answer';
import { ReportDownloads, ReportRequest } from './report-request';
import { ReportTable } from './report-table';
import { type AnsweredReport, useReportValueText } from './report-values';

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
  const [{ run, sort, find, ...written }, change] = useAddress({ ...defaults, ...ARRANGED, run: '' });
  const values = withDefaults(form, written);
  const variables = variablesOf(form, values);
  const isComplete = form.parameters.every(({ name, isRequired }) => !isRequired || values[name] !== '');
  const isAsked = isComplete && (run !== '' || !form.parameters.some(({ isRequired }) => isRequired));
  const answer = useReportAnswer(form, {
    variables,
    isEnabled: isAsked,
    isWhole: sort !== '' || find !== '',
  });
  const { first, rows, error, refetch, isFetching } = answer;
  return (
    <PageFrame
      title={report.title}
      description={<CodeSpans text={say(report.description)} />}
      above={[{ label: t('Reports'), to: '/portal/reports' }]}
      actions={
        rows.length > 0 && (
          <>
            <ReportDownloads name={report.name} form={form} values={values} />
            <PrintMenu report={report.name} address={(print) => printAddress(print, values)} />
          </>
        )
      }
    >
      <Stack>
        {form.parameters.length > 0 && (
          <AskedAbout form={form} values={values} isAsked={isAsked}>
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
            {first.totals && <Totals form={form} answer={first} />}
            {rows.length === 0 && (
              <EmptyState icon="chart" title={t('No rows')}>
                {t('No records match these options.')}
              </EmptyState>
            )}
            {rows.length > 0 && (
              <PageTabs>
                <PageTab name="table" label={t('Table')}>
                  <ReportTable form={form} answer={answer} label={report.title} />
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

/** The parameters of the report, as they are chosen of a document. */
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
  readonly isAsked: boolean;
  /** The form. */
  readonly children: ReactNode;
}

/**
 * The parameters above the answer. On a phone the form is several screens long, so it is folded when the
 * report is run.
 */
function AskedAbout({ form, values, isAsked, children }: AskedAboutProps) {
  const sayValue = ({ name, type, choices }: AskableReport['parameters'][number]): string => {
    const value = values[name] ?? '';
    if (value === '') return '';
    if (type === 'LocalDate') return formats.day(value);
    if (type === 'Month') return formats.month(value);
    if (type === 'Boolean') return value === 'true' ? t('yes') : t('no');
    if (isSpan(name) && MONTH.test(value)) return formats.month(value);
    if (isSpan(name) && DAY.test(value)) return formats.day(value);
    return choices ? say(nameOfEnumValue(value)) : value;
  };
  const isPhone = useMediaQuery('(max-width: 36em)', false, { getInitialValueInEffect: false });
  const [isOpen, setIsOpen] = useState(false);
  const isFolded = isPhone && isAsked;
  const said = form.parameters
    .map((parameter) => [say(nameOfColumn(parameter.name)), sayValue(parameter)])
    .filter(([, value]) => value !== '')
    .map((parts) => parts.join(': '))
    .join(' · ');
  const button = useRef<HTMLButtonElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is folded again when something else is asked.
  useEffect(() => {
    if (!isOpen) return;
    setIsOpen(false);
    button.current?.focus();
  }, [said]);
  return (
    <>
      <PrintedOnly>
        <Text>{said}</Text>
      </PrintedOnly>
      <Card withBorder padding="md" className="no-print">
        {isFolded && (
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
        {(!isFolded || isOpen) && children}
      </Card>
    </>
  );
}

type Values = Readonly<Record<string, string>>;

const MONTH = /^\d{4}-\d{2}$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The first or last day or month of some reports. It is text, because it may be either. */
function isSpan(name: string): boolean {
  return name === 'start' || name === 'end';
}

/** Required parameters that are missing get the most common value: today, or the first choice. */
function withDefaults({ parameters }: AskableReport, written: Values): Values {
  const { today } = formats;
  return Object.fromEntries(
    parameters.map(({ name, type, isRequired, choices }) => {
      const value = written[name] ?? '';
      if (value !== '' || !isRequired) return [name, value];
      if (type === 'LocalDate') return [name, today];
      if (type === 'Month' || (isSpan(name) && type === 'String')) return [name, today.slice(0, 7)];
      if (name === 'session' && type === 'String')
        return [name, String(fillVariables({ name: '{session}' }, today).name)];
      return [name, choices?.includes('ALL') ? 'ALL' : (choices?.[0] ?? '')];
    }),
  );
}

function variablesOf({ parameters }: AskableReport, values: Values): Readonly<Record<string, unknown>> {
  const given = parameters.filter(({ name }) => values[name] !== '');
  return Object.fromEntries(
    given.map(({ name, type }) => [name, type === 'Boolean' ? values[name] === 'true' : values[name]]),
  );
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

function Totals({ form, answer }: { readonly form: AskableReport; readonly answer: AnsweredReport }) {
  const valueText = useReportValueText(answer.currency);
  const shown = form.totals.filter((column) => column.members.length === 0 && !column.isList);
  return (
    <dl className="totals">
      {shown.map((column) => (
        <div key={column.name}>
          <Text component="dt" size="xs" c="dimmed">
            {say(nameOfColumn(column.name))}
          </Text>
          <Text component="dd" fw={600} size="lg" m={0}>
            {valueText(answer.totals?.[column.name], column)}
          </Text>
        </div>
      ))}
    </dl>
  );
}
