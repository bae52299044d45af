import { Card, Code, Group, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { RunOfScript, RunsOfScript, type ShownRunFragment } from '../../../generated/portal/scripts/scripts';
import { useChange } from '../gateway/use-gateway';
import { pageOf, useListedPages } from '../gateway/use-listed-pages';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { Answered } from '../shell/answered';
import { findJsonFault } from '../shell/find-json-fault';
import { StateTag } from '../shell/icon';
import { MoreButton } from '../shell/list-table';
import { EmptyState, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { useUserNames } from '../shell/use-record-labels';

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
export function ScriptRunsTab({ name }: { readonly name: string }) {
  const t = useTexts();
  const runs = useListedPages(
    RunsOfScript,
    (before) => ({ script: name, first: PAGE_SIZE, before }),
    ({ scriptRuns }) => pageOf(scriptRuns, PAGE_SIZE),
  );
  const nameOf = useUserNames(runs.data?.map(({ principal }) => principal) ?? []);
  return (
    <Answered of={runs}>
      {(rows) => (
        <Stack component="ol" className="plain-list" maw={900}>
          {rows.length === 0 && <EmptyState icon="history" title={t('No runs yet')} />}
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
  const t = useTexts();
  const formats = useFormats();
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
export function RunTab({ name }: { readonly name: string }) {
  const t = useTexts();
  const [text, setText] = useState('{}');
  const run = useChange(RunOfScript, [RunsOfScript]);
  const read = readJson(text);
  const fault = read === undefined ? findJsonFault(text) : undefined;
  return (
    <Stack maw={800}>
      <Textarea
        label={t('Arguments, as JSON')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={fault && t('This is no JSON: line {line, number}, column {column, number}', { ...fault })}
        autosize
        minRows={4}
        spellCheck={false}
        classNames={{ input: 'monospace' }}
      />
      <Group>
        <TextButton
          label={t('Run')}
          isMain
          disabled={read === undefined}
          loading={run.isPending}
          onClick={() => run.mutate({ name, arguments: read?.value })}
        />
      </Group>
      {run.error && <ProblemState problem={run.error} />}
      {run.data && <FinishedRun run={run.data.runScript} />}
    </Stack>
  );
}

function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: text.trim() === '' ? undefined : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const RUN_STATUS_NAMES: Readonly<Record<ShownRunFragment['status'], string>> = {
  RUNNING: phrase('Runs'),
  SUCCEEDED: phrase('Done'),
  FAILED: phrase('Failed'),
};

function FinishedRun({ run }: { readonly run: ShownRunFragment }) {
  const t = useTexts();
  const formats = useFormats();
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
            <section key={title} aria-label={title}>
              <Text fw={500}>{title}</Text>
              <Code block className="wrapped">
                {text}
              </Code>
            </section>
          ),
      )}
    </Stack>
  );
}
