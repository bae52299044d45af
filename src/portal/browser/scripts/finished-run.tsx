/** The result of a run of a script: its output, its value, or its error. */
import { Code, Group, Stack, Text } from '@mantine/core';
import type { ShownRunFragment } from '../../../generated/portal/scripts/scripts';
import { useFormats } from '../language/use-formats';
import { phrase, useTexts } from '../language/use-texts';
import { StateTag } from '../shell/state-tag';

export const RUN_STATUS_NAMES: Readonly<Record<ShownRunFragment['status'], string>> = {
  RUNNING: phrase('Runs'),
  SUCCEEDED: phrase('Done'),
  FAILED: phrase('Failed'),
};

export function FinishedRun({ run }: { readonly run: ShownRunFragment }) {
  const t = useTexts();
  const formats = useFormats();
  const { status, output, value, error, cpuMs } = run;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <StateTag state={status}>{t(RUN_STATUS_NAMES[status])}</StateTag>
        {cpuMs !== null && (
          <Text size="sm" c="dimmed">
            {t('{ms} ms of processor', { ms: formats.number(cpuMs) })}
          </Text>
        )}
      </Group>
      {error && (
        <Text size="sm" c="red" className="wrapped" role="alert">
          {error.name}: {error.message}
          {error.line !== null && ` (${t('line {line}', { line: error.line })})`}
        </Text>
      )}
      {error && error.stack !== '' && (
        <Code block className="wrapped">
          {error.stack}
        </Code>
      )}
      {output.length > 0 && (
        <section aria-label={t('Output')}>
          <Text size="sm" fw={500}>
            {t('Output')}
          </Text>
          <Code block className="wrapped">
            {output.map(({ text }) => text).join('\n')}
          </Code>
        </section>
      )}
      {value !== null && value !== undefined && (
        <section aria-label={t('Result')}>
          <Text size="sm" fw={500}>
            {t('Result')}
          </Text>
          <Code block className="wrapped">
            {JSON.stringify(value, null, 2)}
          </Code>
        </section>
      )}
    </Stack>
  );
}
