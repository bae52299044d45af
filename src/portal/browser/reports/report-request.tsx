/** The request of the current report for programs, to copy. It needs an API key of the user. */
import { Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useDownload, useViewer } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { scriptDraftKey, useDraft } from '../records/use-draft';
import { CodeToCopy, printRequestCode } from '../shell/code-to-copy';
import { notice } from '../shell/confirm-dialog';
import { TextButton } from '../shell/text-button';
import { type AskableReport, restNameOf } from './askable-report';

export interface ReportRequestProps {
  readonly name: string;
  readonly form: AskableReport;
  readonly values: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function ReportRequest({ variables, ...report }: ReportRequestProps) {
  const { form } = report;
  const asked = JSON.stringify(variables, null, 2);
  const [curl] = printRequestCode({ address: location.origin + restAddress(report) });
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
export function ReportDownloads(report: ReportDownloadsProps) {
  const { mutate, isPending } = useDownload();
  const start = (format: string) =>
    mutate(
      { path: restAddress(report, format), name: `${report.name}.${format}` },
      { onError: ({ message }) => notice(message, 'failed') },
    );
  return ['csv', 'xlsx'].map((format) => (
    <TextButton
      key={format}
      label={t('{format} file', { format: format.toUpperCase() })}
      icon="download"
      loading={isPending}
      onClick={() => start(format)}
    />
  ));
}

/** Drafts a script that sends the report on a schedule, for those who may write scripts. */
export function ReportByEmail(asked: ReportDownloadsProps & { readonly title: string }) {
  const { name, title } = asked;
  const { domain, duties } = useViewer();
  const navigate = useNavigate();
  const script = `${name}-by-email`;
  const [, keepDraft] = useDraft(scriptDraftKey(domain.id, script));
  if (!duties.includes('scripts')) return null;
  const address = new URLSearchParams(restAddress(asked).slice(2));
  const { report: _, ...parameters } = Object.fromEntries(address);
  // Today and this month are those of each run.
  const { today } = formats;
  const inWords = JSON.stringify(parameters)
    .replaceAll(JSON.stringify(today), 'today')
    .replaceAll(JSON.stringify(today.slice(0, 7)), 'today.slice(0, 7)');
  const code = [
    ...(inWords.includes('today') ? ['const today = platform.format.day();'] : []),
    "const to = await platform.db.findDistinct('pltf_user', 'email', { roles: 'admin', active: true });",
    `const file = platform.report(${JSON.stringify(name)}, ${inWords}, 'xlsx');`,
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

/**
 * Parameters whose values are the same in REST and in the schema. Other enum values are in lower case in
 * REST.
 */
const SAME_IN_REST = /Basis$/;

/** The REST address of a report. */
function restAddress({ name, form, values }: ReportDownloadsProps, format = ''): string {
  const address = new URLSearchParams({ report: name });
  for (const { name: parameter, type, choices } of form.parameters) {
    const value = values[parameter] ?? '';
    if (value === '') continue;
    address.set(restNameOf(parameter), choices && !SAME_IN_REST.test(type) ? value.toLowerCase() : value);
  }
  if (format !== '') address.set('format', format);
  return `/?${address}`;
}
