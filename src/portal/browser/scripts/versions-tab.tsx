import { NativeSelect, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { VersionsOfScript } from '../../../generated/portal/scripts/scripts';
import { useOperation } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { useUserNames } from '../shell/use-record-labels';

const CodeEditor = lazy(async () => ({ default: (await import('../editor/code-editor')).CodeEditor }));

/** The versions of a script, each compared with the saved one. */
export function VersionsTab({ name, code }: { readonly name: string; readonly code: string }) {
  const t = useTexts();
  const formats = useFormats();
  const [{ version }, change] = useAddress({ version: '' });
  const { data, error, refetch } = useOperation(VersionsOfScript, { name });
  const nameOf = useUserNames(data?.scriptVersions.map(({ savedBy }) => savedBy) ?? []);
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const [, ...earlier] = data.scriptVersions;
  const chosen = earlier.find((one) => String(one.version) === version) ?? earlier[0];
  if (!chosen) return <EmptyState icon="history" title={t('Only one version')} />;
  return (
    <Stack>
      <NativeSelect
        label={t('Compare with')}
        value={String(chosen.version)}
        onChange={(event) => change({ version: event.currentTarget.value }, 'replace')}
        data={earlier.map((one) => ({
          value: String(one.version),
          label: [
            t('Version {version}', { version: one.version }),
            formats.instant(one.savedAt),
            nameOf(one.savedBy),
          ].join(' · '),
        }))}
        maw={480}
      />
      <Text size="sm" c="dimmed">
        {t('Green was added since then, red was removed.')}
      </Text>
      <Suspense fallback={<LoadingState rows={10} />}>
        <CodeEditor
          label={t('Changes since version {version}', { version: chosen.version })}
          language="javascript"
          value={code}
          original={chosen.code}
        />
      </Suspense>
    </Stack>
  );
}
