/** The request of the current report for programs, to copy. It needs an API key of the user. */
import { Stack } from '@mantine/core';
import { CodeToCopy } from '../shell/code-to-copy';
import { LoadingState } from '../shell/states';
import type { AskableReport } from './askable-report';
import { restAddress } from './rest-address';
import { useIndexedReport } from './use-indexed-report';

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
  const curl = `curl -H "Authorization: Bearer $CAMPUS_KEY" '${address}'`;
  const script = [
    `const response = await fetch('${location.origin}/graphql', {`,
    "  method: 'POST',",
    "  headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.CAMPUS_KEY },",
    `  body: JSON.stringify({ query, variables: ${asked.replaceAll('\n', '\n  ')} }),`,
    '});',
    `const { data, errors } = await response.json();`,
  ].join('\n');
  return (
    <Stack maw={900}>
      <CodeToCopy title="curl" text={curl} />
      <CodeToCopy title="GraphQL" text={`${form.document}\n# variables\n${asked.replaceAll(/^/gm, '# ')}`} />
      <CodeToCopy title="JavaScript" text={script} />
    </Stack>
  );
}
