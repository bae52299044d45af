/** One script: its code and triggers, runs, log and versions. */
import { Code, NativeSelect, Stack, Tabs, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import {
  DropScript,
  LogOfScript,
  type LogOfScriptQuery,
  type LogOfScriptQueryVariables,
  ScriptNow,
  ScriptsOfSchool,
  VersionsOfScript,
} from '../../../generated/portal/scripts/scripts';
import { useOperation } from '../gateway/use-gateway';
import { pageOf, useListedPages } from '../gateway/use-listed-pages';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { GatewayProblem } from '../session/gateway-problem';
import { Answered } from '../shell/answered';
import { ChangeButton } from '../shell/change-dialog';
import { choicesOf, ListTable, MoreButton } from '../shell/list-table';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame } from '../shell/states';
import { useUserNames } from '../shell/use-record-labels';
import { ScriptEditor } from './script-editor';
import { RunTab, ScriptRunsTab } from './script-runs-tab';

const CodeEditor = lazy(async () => ({ default: (await import('../editor/code-editor')).CodeEditor }));

export function ScriptDetailsPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { script: name = '' } = useParams({ strict: false }) as { readonly script?: string };
  const [{ tab }, change] = useAddress({ tab: 'code' });
  const { data, error, refetch } = useOperation(ScriptNow, { name });
  const isNew = error instanceof GatewayProblem && error.code === 'NOT_FOUND';
  const script = isNew ? undefined : (data?.script ?? undefined);
  const tabs: Readonly<Record<string, readonly [label: string, content: ReactNode]>> = {
    code: [t('Code'), <ScriptEditor key={name} name={name} script={script} />],
    ...(script && {
      run: [t('Run'), <RunTab key={name} name={name} />],
      runs: [t('Runs'), <ScriptRunsTab key={name} name={name} />],
      log: [t('Log'), <LogTab key={name} name={name} />],
      versions: [t('Versions'), <VersionsTab key={name} name={name} code={script.code} />],
    }),
  };
  return (
    <PageFrame
      title={name}
      above={[{ label: t('Scripts'), to: '/portal/scripts' }]}
      description={script?.description}
      actions={
        script && (
          <ChangeButton
            title={t('Remove {name}?', { name })}
            action={t('Remove')}
            isDangerous
            change={DropScript}
            variables={{ name }}
            outdated={[ScriptsOfSchool]}
            onDone={() => void navigate({ to: '/portal/scripts' })}
          >
            {t('It will not run any more and its code is deleted. Copy it first if you may need it again.')}
          </ChangeButton>
        )
      }
    >
      <Answered<unknown>
        of={isNew ? { data: name, error: null, refetch } : { data, error, refetch }}
        rows={12}
      >
        {() => (
          <Tabs value={tab} onChange={(next) => change({ tab: next ?? 'code' })} keepMounted={false}>
            <Tabs.List mb="md">
              {Object.entries(tabs).map(([value, [label]]) => (
                <Tabs.Tab key={value} value={value}>
                  {label}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {Object.entries(tabs).map(([value, [, content]]) => (
              <Tabs.Panel key={value} value={value}>
                {content}
              </Tabs.Panel>
            ))}
          </Tabs>
        )}
      </Answered>
    </PageFrame>
  );
}

interface ScriptTabProps {
  readonly name: string;
}

const LOG_PAGE = 100;

const LEVEL_NAMES: Readonly<Record<string, string>> = {
  DEBUG: phrase('Debug'),
  INFO: phrase('Info'),
  WARN: phrase('Warning'),
  ERROR: phrase('Error'),
};

/** The log of a script, the newest line first. */
function LogTab({ name }: ScriptTabProps) {
  const t = useTexts();
  const { instant } = useFormats();
  const [{ level }, change] = useAddress({ level: '' });
  const log = useListedPages(
    LogOfScript,
    (before) => ({
      ...{ script: name, first: LOG_PAGE, before },
      ...(level in LEVEL_NAMES && { level: level as NonNullable<LogOfScriptQueryVariables['level']> }),
    }),
    ({ scriptLog }) => pageOf(scriptLog, LOG_PAGE),
  );
  return (
    <Stack>
      <NativeSelect
        label={t('Level')}
        value={level}
        onChange={(event) => change({ level: event.currentTarget.value }, 'replace')}
        data={choicesOf(t, LEVEL_NAMES, t('All'))}
        maw={220}
      />
      <Answered of={log}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState icon="file" title={t('No log entries')} />
          ) : (
            <ListTable<LogOfScriptQuery['scriptLog'][number]>
              label={t('Log')}
              rows={entries}
              columns={[
                [t('When'), ({ at }) => instant(at), 'one-line'],
                [t('Level'), (entry) => t(LEVEL_NAMES[entry.level] ?? entry.level)],
                [
                  t('What'),
                  ({ message, data }) => (
                    <div>
                      {message} {data !== null && <Code>{JSON.stringify(data)}</Code>}
                    </div>
                  ),
                  'wrapped',
                ],
              ]}
            />
          )
        }
      </Answered>
      <MoreButton more={log.more}>{t('Older entries')}</MoreButton>
    </Stack>
  );
}

/** The versions of a script, each compared with the saved one. */
function VersionsTab({ name, code }: ScriptTabProps & { readonly code: string }) {
  const t = useTexts();
  const formats = useFormats();
  const [{ version }, change] = useAddress({ version: '' });
  const answer = useOperation(VersionsOfScript, { name });
  const nameOf = useUserNames(answer.data?.scriptVersions.map(({ savedBy }) => savedBy) ?? []);
  return (
    <Answered of={answer}>
      {({ scriptVersions: [, ...earlier] }) => {
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
            <Text c="dimmed">{t('Green was added since then, red was removed.')}</Text>
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
      }}
    </Answered>
  );
}
