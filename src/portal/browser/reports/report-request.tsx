/** The request of the current report for programs, to copy. It needs an API key of the user. */
import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDownload, useGateway, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { scriptDraftKey, useDraft } from '../records/use-draft';
import { CodeToCopy, printRequestCode } from '../shell/code-to-copy';
import { notice } from '../shell/confirm-dialog';
import { LoadingState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import type { AskableReport } from './askable-report';

export interface ReportRequestProps {
  readonly name: string;
  readonly form: AskableReport;
  readonly values: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function ReportRequest({ name, form, values, variables }: ReportRequestProps) {
  const indexed = useIndexedReport(name);
  if (!indexed) return <LoadingState />;
  const asked = JSON.stringify(variables, null, 2);
  const address = location.origin + restAddress(indexed, { form, values });
  const [curl] = printRequestCode({ address });
  const [, ...programs] = printRequestCode({
    address: `${location.origin}/graphql`,
    body: { query: form.document, variables },
  });
  return (
    <Stack maw={900}>
      {curl && <CodeToCopy {...curl} />}
      <CodeToCopy title="GraphQL" text={`${form.document}\n# variables\n${asked.replaceAll(/^/gm, '# ')}`} />
      {programs.map((program) => (
        <CodeToCopy key={program.title} {...program} />
      ))}
    </Stack>
  );
}

export type ReportDownloadsProps = Omit<ReportRequestProps, 'variables'>;

/** Downloads all rows of the report as a file, including those not shown. */
export function ReportDownloads({ name, form, values }: ReportDownloadsProps) {
  const indexed = useIndexedReport(name);
  const { mutate, isPending } = useDownload();
  const start = (format: string) => {
    if (!indexed) return;
    const path = restAddress(indexed, { form, values, format });
    mutate({ path, name: `${name}.${format}` }, { onError: ({ message }) => notice(message, 'failed') });
  };
  return ['csv', 'xlsx'].map((format) => (
    <TextButton
      key={format}
      label={t('{format} file', { format: format.toUpperCase() })}
      icon="download"
      disabled={!indexed}
      loading={isPending}
      onClick={() => start(format)}
    />
  ));
}

/** Drafts a script that sends the report on a schedule, for those who may write scripts. */
export function ReportByEmail({
  name,
  title,
  form,
  values,
}: ReportDownloadsProps & { readonly title: string }) {
  const { domain, duties } = useViewer();
  const navigate = useNavigate();
  const indexed = useIndexedReport(name);
  const script = `${name}-by-email`;
  const [, keepDraft] = useDraft(scriptDraftKey(domain.id, script));
  if (!indexed || !duties.includes('scripts')) return null;
  const { report: _, ...parameters } = Object.fromEntries(
    new URLSearchParams(restAddress(indexed, { form, values }).slice(2)),
  );
  // Today and this month are those of each run.
  const { today } = formats;
  const asked = JSON.stringify(parameters)
    .replaceAll(JSON.stringify(today), 'today')
    .replaceAll(JSON.stringify(today.slice(0, 7)), 'today.slice(0, 7)');
  const code = [
    ...(asked.includes('today') ? ['const today = platform.format.day();'] : []),
    "const to = await platform.db.findDistinct('pltf_user', 'email', { roles: 'admin', active: true });",
    `const file = platform.report(${JSON.stringify(name)}, ${asked}, 'xlsx');`,
    `const subject = ${JSON.stringify(title)};`,
    'platform.sendEmail({ to, subject, text: subject, attachments: [file] });',
  ];
  return (
    <TextButton
      label={t('Send by email')}
      icon="mail"
      onClick={() => {
        keepDraft({ code: `${code.join('\n')}\n`, schedule: '0 7 1 * *', serviceRoles: 'admin' });
        void navigate({ to: `/portal/scripts/${script}` });
      }}
    />
  );
}

/** The REST address of a report. The index of the service names its parameters in REST. */
export interface IndexedReport {
  readonly name: string;
  readonly parameters: readonly { readonly name: string }[];
}

/**
 * Parameters whose values are the same in REST and in the schema. Other enum values are in lower case in
 * REST.
 */
const SAME_IN_REST = /Basis$/;

/** The parameters are in the same order in both. */
function restAddress(
  report: IndexedReport,
  { form, values, format }: Omit<ReportDownloadsProps, 'name'> & { readonly format?: string },
): string {
  const address = new URLSearchParams({ report: report.name });
  form.parameters.forEach(({ name, type, choices }, index) => {
    const value = values[name] ?? '';
    const named = report.parameters[index]?.name;
    if (value === '' || named === undefined) return;
    address.set(named, choices && !SAME_IN_REST.test(type) ? value.toLowerCase() : value);
  });
  if (format !== undefined) address.set('format', format);
  return `/?${address}`;
}

/** A report as described by the index of the service, `GET /`. */
function useIndexedReport(name: string): IndexedReport | undefined {
  const gateway = useGateway();
  const { data } = useQuery({
    queryKey: ['index'],
    queryFn: async ({ signal }) => {
      const response = await gateway.fetch('/', { headers: { accept: 'application/json' }, signal });
      return (await response.json()) as { readonly reports: readonly IndexedReport[] };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.reports.find((report) => report.name === name);
}
