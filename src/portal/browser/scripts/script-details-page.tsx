/** One script: its code and triggers, runs, log and versions. */

import { Card, Code, Group, Stack, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  DropScript,
  LogOfScript,
  type LogOfScriptQuery,
  type LogOfScriptQueryVariables,
  RunOfScript,
  RunsOfScript,
  ScriptNow,
  ScriptsOfSchool,
  type ShownRunFragment,
  VersionsOfScript,
} from '../../../generated/portal/scripts/scripts';
import { LazyCodeEditor } from '../editor/lazy-editor';
import { pageOf, useChange, useListedPages, useOperation } from '../gateway/use-gateway';
import { formats, phrase, t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import { ChangeButton } from '../shell/confirm-dialog';
import { findJsonFault } from '../shell/find-json-fault';
import { StateTag } from '../shell/icon';
import { choicesOf, ListTable, MoreButton } from '../shell/list-table';
import { PageTab, PageTabs, useAddress } from '../shell/page-filter';
import { readJson } from '../shell/read-json';
import { Answered, EmptyState, PageFrame, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { ChoiceField, LongTextField } from '../shell/text-field';
import { useUserNames } from '../shell/use-record-labels';
import { ScriptEditor } from './script-editor';

export function ScriptDetailsPage() {
  const navigate = useNavigate();
  const { script: name = '' } = useParams({ strict: false }) as { readonly script?: string };
  const answer = useOperation(ScriptNow, { name });
  const isNew = codeOf(answer.error) === 'NOT_FOUND';
  const script = isNew ? undefined : answer.data?.script;
  const tabs: readonly (readonly [name: string, label: string, content: ReactNode])[] = [
    ['code', t('Code'), <ScriptEditor key={name} name={name} script={script} />],
    ...(script
      ? ([
          ['run', t('Run'), <RunTab key={name} name={name} />],
          ['runs', t('Runs'), <ScriptRunsTab key={name} name={name} />],
          ['log', t('Log'), <LogTab key={name} name={name} />],
          ['versions', t('Versions'), <VersionsTab key={name} name={name} code={script.code} />],
        ] as const)
      : []),
  ];
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
      <Answered<unknown> of={isNew ? { ...answer, data: name, error: null } : answer} rows={12}>
        {() => (
          <PageTabs>
            {tabs.map(([value, label, content]) => (
              <PageTab key={value} name={value} label={label}>
                {content}
              </PageTab>
            ))}
          </PageTabs>
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
  const [{ level }, , field] = useAddress({ level: '' });
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
      <ChoiceField label={t('Level')} {...field('level')} data={choicesOf(LEVEL_NAMES, t('All'))} maw={220} />
      <Answered of={log} empty={<EmptyState icon="file" title={t('No log entries')} />}>
        {(entries) => (
          <ListTable<LogOfScriptQuery['scriptLog'][number]>
            label={t('Log')}
            rows={entries}
            columns={[
              [t('When'), ({ at }) => formats.instant(at), 'one-line'],
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
        )}
      </Answered>
      <MoreButton more={log.more}>{t('Older entries')}</MoreButton>
    </Stack>
  );
}

/** The versions of a script, each compared with the saved one. */
function VersionsTab({ name, code }: ScriptTabProps & { readonly code: string }) {
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
            <ChoiceField
              label={t('Compare with')}
              value={String(chosen.version)}
              onChange={(next) => change({ version: next }, 'replace')}
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
            <LazyCodeEditor
              label={t('Changes since version {version}', { version: chosen.version })}
              language="javascript"
              value={code}
              original={chosen.code}
            />
          </Stack>
        );
      }}
    </Answered>
  );
}

const PAGE_SIZE = 20;

/** The names of the causes of a run. */
const CAUSE_NAMES: Readonly<Record<string, string>> = {
  call: phrase('Called'),
  script: phrase('Called by a script'),
  commandLine: phrase('From the command line'),
  endpoint: phrase('A request'),
  schedule: phrase('On a schedule'),
  topic: phrase('A message'),
  before: phrase('Before a write'),
  after: phrase('After a write'),
};

/** The runs of a script with their output, the newest first. */
function ScriptRunsTab({ name }: { readonly name: string }) {
  const runs = useListedPages(
    RunsOfScript,
    (before) => ({ script: name, first: PAGE_SIZE, before }),
    ({ scriptRuns }) => pageOf(scriptRuns, PAGE_SIZE),
  );
  const nameOf = useUserNames(runs.data?.map(({ principal }) => principal) ?? []);
  return (
    <Answered of={runs} empty={<EmptyState icon="history" title={t('No runs yet')} />}>
      {(rows) => (
        <Stack component="ol" className="plain-list" maw={900}>
          {rows.map((run) => (
            <RunCard key={run.id} run={run} user={nameOf(run.principal)} />
          ))}
          <MoreButton more={runs.more}>{t('Older runs')}</MoreButton>
        </Stack>
      )}
    </Answered>
  );
}

function RunCard({ run, user }: { readonly run: ShownRunFragment; readonly user: string }) {
  const [isOpen, setIsOpen] = useState(false);
  const { status, cause, startedAt, version, error } = run;
  return (
    <Card component="li" withBorder padding="md" className="version-card">
      <Group justify="space-between">
        <Group gap="xs">
          <StateTag state={status}>{t(RUN_STATUS_NAMES[status])}</StateTag>
          <Text>{formats.instant(startedAt)}</Text>
          <Text c="dimmed" className="wrapped">
            {[
              t(CAUSE_NAMES[cause] ?? cause),
              user,
              version === null ? '' : t('Version {version}', { version }),
            ]
              .filter((part) => part !== '')
              .join(' · ')}
          </Text>
        </Group>
        <TextButton
          label={t('Result')}
          size="compact-sm"
          aria-expanded={isOpen}
          aria-label={t('Result of the run at {time}', { time: formats.instant(startedAt) })}
          onClick={() => setIsOpen(!isOpen)}
        />
      </Group>
      {!isOpen && error && (
        <Text mt="xs" lineClamp={2} className="wrapped">
          {error.message}
        </Text>
      )}
      {isOpen && <FinishedRun run={run} />}
    </Card>
  );
}

/** Runs the saved script with the given arguments. */
function RunTab({ name }: { readonly name: string }) {
  const [text, setText] = useState('{}');
  const run = useChange(RunOfScript, [RunsOfScript]);
  const read = readJson(text);
  const fault = read === undefined && text.trim() !== '' ? findJsonFault(text) : undefined;
  return (
    <Stack maw={800}>
      <LongTextField
        label={t('Arguments, as JSON')}
        value={text}
        onChange={setText}
        error={fault && t('Invalid JSON: line {line, number}, column {column, number}', { ...fault })}
        minRows={4}
        spellCheck={false}
        classNames={{ input: 'monospace' }}
      />
      <Group>
        <TextButton
          label={t('Run')}
          isMain
          disabled={fault !== undefined}
          loading={run.isPending}
          onClick={() => run.mutate({ name, arguments: read })}
        />
      </Group>
      {run.error && <ProblemState problem={run.error} />}
      {run.data && <FinishedRun run={run.data.runScript} />}
    </Stack>
  );
}

const RUN_STATUS_NAMES: Readonly<Record<ShownRunFragment['status'], string>> = {
  RUNNING: phrase('Runs'),
  SUCCEEDED: phrase('Done'),
  FAILED: phrase('Failed'),
};

function FinishedRun({ run }: { readonly run: ShownRunFragment }) {
  const { status, output, value, error, cpuMs } = run;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <StateTag state={status}>{t(RUN_STATUS_NAMES[status])}</StateTag>
        {cpuMs !== null && <Text c="dimmed">{t('{ms} ms of processor', { ms: formats.number(cpuMs) })}</Text>}
      </Group>
      {error && (
        <Text c="red" className="wrapped" role="alert">
          {error.name}: {error.message}
          {error.line !== null && ` (${t('line {line}', { line: error.line })})`}
        </Text>
      )}
      {error && error.stack !== '' && (
        <Code block className="wrapped">
          {error.stack}
        </Code>
      )}
      {[
        [t('Output'), output.map(({ text }) => text).join('\n')],
        [t('Result'), value === null || value === undefined ? '' : JSON.stringify(value, null, 2)],
      ].map(
        ([title, text]) =>
          text && (
            <Stack key={title} gap={0} role="group" aria-label={title}>
              <Text fw={500}>{title}</Text>
              <Code block className="wrapped">
                {text}
              </Code>
            </Stack>
          ),
      )}
    </Stack>
  );
}
