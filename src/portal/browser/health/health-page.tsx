/** The health of the gateway and its database, for operators. */
import { Alert, Card, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useId, useState } from 'react';
import {
  GatewayHealth,
  type GatewayHealthQuery,
  MakeBackup,
  VerifyBackup,
} from '../../../generated/portal/health/health';
import { useChange, useDownload, useOperation } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { formats, phrase, t } from '../language/texts';
import { CodeToCopy, CopyTextButton } from '../shell/code-to-copy';
import { Icon, StateTag } from '../shell/icon';
import { ActionsHead, ListSection, ListTable } from '../shell/list-table';
import { Answered, EmptyState, PageFrame, ProblemState, TitledSection } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { type SlowOperation, type SlowRun, toSlowOperations } from './slow-operations';

type HealthFigures = GatewayHealthQuery['health'];

const REFRESH_MS = 15_000;
const REFRESH_BUSY_MS = 2_000;

const QUEUE_NAMES: Readonly<Record<string, string>> = {
  jobs: phrase('Jobs'),
  messages: phrase('Messages'),
  webhooks: phrase('Webhook deliveries'),
};

export function HealthPage() {
  const answer = useOperation(
    GatewayHealth,
    {},
    { everyMs: (last) => (last?.health.isBackingUp ? REFRESH_BUSY_MS : REFRESH_MS) },
  );
  const { isFetching, refetch } = answer;
  return (
    <PageFrame
      title={t('Health')}
      description={t('Updates every 15 seconds')}
      actions={<TextButton label={t('Refresh')} loading={isFetching} onClick={() => void refetch()} />}
    >
      <Stack>
        <Answered of={answer}>{({ health }) => <HealthDetails health={health} />}</Answered>
      </Stack>
    </PageFrame>
  );
}

function HealthDetails({ health }: GatewayHealthQuery) {
  return (
    <>
      {health.isReadOnly && (
        <Alert
          color="red"
          title={t('The database is read-only at the moment')}
          icon={<Icon name="warning" />}
        />
      )}
      <Verdict health={health} />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Figure name={t('Gateway')} value={health.version} />
        <Figure name="PostgreSQL" value={health.databaseVersion} />
        <Figure name={t('Size of the database')} value={formats.bytes(health.databaseBytes)} />
        {health.diskFreeBytes !== null && (
          <Figure name={t('Free on its disk')} value={formats.bytes(health.diskFreeBytes)} />
        )}
      </SimpleGrid>
      <Backups health={health} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Queues queues={health.queues} />
        <Gateways health={health} />
      </SimpleGrid>
      <SlowStatementList statements={health.slowStatements} />
      <Migrations migrations={health.migrations} />
    </>
  );
}

/** A summary in one sentence. */
function Verdict({ health: { isReadOnly, queues, replicas, backupFailedAt } }: GatewayHealthQuery) {
  if (isReadOnly) return null;
  const failed = queues.reduce((sum, queue) => sum + queue.failed, 0);
  const away = replicas.filter(({ lagMs }) => lagMs === null).length;
  const faults = [
    ...(backupFailedAt === null ? [] : [t('The last backup failed')]),
    ...(failed > 0
      ? [t('{count, plural, one {# task has} other {# tasks have}} failed for good', { count: failed })]
      : []),
    ...(away > 0
      ? [t('{count, plural, one {# replica is} other {# replicas are}} unreachable', { count: away })]
      : []),
  ];
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
  return (
    <Card withBorder className="verdict" data-tone={faults.length === 0 ? 'good' : 'warning'}>
      <span className="state-sign">
        <Icon name={faults.length === 0 ? 'check' : 'warning'} size={26} />
      </span>
      <div>
        <Text fw={600} size="lg">
          {faults.length === 0 ? t('Everything is working') : faults.join(' · ')}
        </Text>
        <Text c="dimmed">
          {waiting === 0
            ? t('Nothing is waiting in a queue')
            : t('{count} waiting in queues', { count: formats.number(waiting) })}
        </Text>
      </div>
    </Card>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <Card withBorder>
      <Text c="dimmed">{name}</Text>
      <Text fw={600} size="lg" className="wrapped">
        {value}
      </Text>
    </Card>
  );
}

/** The backups that are kept: each can be verified and downloaded. */
function Backups({ health: { backups, isBackingUp, backupFailedAt, backupFault } }: GatewayHealthQuery) {
  const make = useChange(MakeBackup, [GatewayHealth]);
  const verify = useChange(VerifyBackup, [GatewayHealth]);
  const download = useDownload();
  const problem = make.error ?? verify.error ?? download.error;
  return (
    <TitledSection title={t('Backups')}>
      <Group mb="xs">
        <TextButton
          label={t('Make a backup')}
          loading={isBackingUp || make.isPending}
          onClick={() => make.mutate({})}
        />
      </Group>
      {problem && <ProblemState problem={problem} />}
      {backupFailedAt !== null && (
        <Text c="var(--mantine-color-error)" mb="xs" className="wrapped">
          {t('No backup was made on {time}:', { time: formats.instant(backupFailedAt) })}{' '}
          <ProblemWords text={backupFault ?? ''} />
        </Text>
      )}
      {backups.length === 0 && <EmptyState icon="history" title={t('No backups yet')} />}
      {backups.length > 0 && (
        <ListTable
          label={t('Backups')}
          rows={backups}
          columns={[
            [t('Made'), ({ at }) => formats.instant(at)],
            [t('Size'), ({ bytes }) => formats.bytes(bytes), 'numeric'],
            [t('Verified'), (backup) => <Verified of={backup} />],
            [
              <ActionsHead key="actions" />,
              ({ name }) => (
                <Group gap="xs" wrap="nowrap" justify="flex-end">
                  <TextButton
                    label={t('Verify')}
                    size="compact-sm"
                    disabled={isBackingUp}
                    onClick={() => verify.mutate({ name })}
                  />
                  <TextButton
                    label={t('Download')}
                    size="compact-sm"
                    icon="download"
                    loading={download.isPending && download.variables.name === name}
                    onClick={() => download.mutate({ path: `/backups/${name}`, name })}
                  />
                </Group>
              ),
            ],
          ]}
        />
      )}
    </TitledSection>
  );
}

function Verified({ of: { verifiedAt, fault } }: { readonly of: HealthFigures['backups'][number] }) {
  if (verifiedAt === null) return t('Not yet');
  const at = formats.instant(verifiedAt);
  return fault === null ? (
    <StateTag state="done">{at}</StateTag>
  ) : (
    <>
      <StateTag state="failed">{at}</StateTag> <ProblemWords text={fault} />
    </>
  );
}

function Queues({ queues }: { readonly queues: HealthFigures['queues'] }) {
  return (
    <ListSection
      label={t('Queues')}
      className=""
      rows={queues}
      columns={[
        [t('Queue'), ({ name }) => t(QUEUE_NAMES[name] ?? name)],
        [t('Waiting'), ({ waiting }) => formats.number(waiting), 'numeric'],
        [t('Failed'), ({ failed }) => formats.number(failed), 'numeric'],
      ]}
    />
  );
}

function Gateways({ health: { gateways, replicas } }: GatewayHealthQuery) {
  return (
    <Stack>
      <ListSection
        label={t('Gateways')}
        className=""
        rows={gateways}
        columns={[
          [t('Address'), ({ address }) => address ?? t('same machine as the database'), 'wrapped'],
          [t('Connected since'), ({ connectedSince }) => formats.instant(connectedSince), 'numeric'],
        ]}
      />
      {replicas.length > 0 && (
        <ListSection
          label={t('Replicas')}
          className=""
          rows={replicas}
          columns={[
            [t('Server'), ({ name }) => name, 'wrapped'],
            [
              t('Behind by'),
              ({ lagMs }) =>
                lagMs === null ? t('unreachable') : t('{ms} ms', { ms: formats.number(lagMs) }),
              'numeric',
            ],
            [t('Reads'), ({ reads }) => formats.number(reads), 'numeric'],
          ]}
        />
      )}
    </Stack>
  );
}

function Migrations({ migrations }: { readonly migrations: readonly string[] }) {
  return (
    <details>
      <summary>
        {t('{count, plural, one {# migration applied} other {# migrations applied}}', {
          count: migrations.length,
        })}
      </summary>
      <ol>
        {migrations.map((migration) => (
          <li key={migration} className="wrapped">
            {migration}
          </li>
        ))}
      </ol>
    </details>
  );
}

export interface SlowStatementListProps {
  /** The newest first. */
  readonly statements: readonly SlowRun[];
}

/** A longer statement is shortened until the reader expands it. */
const LONGEST_SHOWN = 300;

/** The operations of the last slow statements, each with its worst one and the indexes that would help. */
export function SlowStatementList({ statements }: SlowStatementListProps) {
  return (
    <TitledSection title={t('Slow statements')} mb={4}>
      <Text c="dimmed" mb="xs">
        {t('The last 50 of the gateway process that answered, since it started; the log has those of all.')}
      </Text>
      {statements.length === 0 && <EmptyState icon="check" title={t('None since this process started')} />}
      <Stack>
        {toSlowOperations(statements).map((operation) => (
          <SlowOperationCard key={operation.key} operation={operation} />
        ))}
      </Stack>
    </TitledSection>
  );
}

function SlowOperationCard({ operation }: { readonly operation: SlowOperation }) {
  const { name, count, lastAt, worst, suggestions } = operation;
  const { collections, durationMs, rows, statement, requestId } = worst;
  const isRepeated = count > 1;
  return (
    <Card withBorder>
      <Group gap="xs">
        <StateTag state="slow">
          {isRepeated
            ? t('up to {ms} ms', { ms: formats.number(durationMs) })
            : t('{ms} ms', { ms: formats.number(durationMs) })}
        </StateTag>
        <Text className="wrapped">{name ?? t('Background task')}</Text>
        <Text c="dimmed" className="wrapped">
          {[
            ...(isRepeated
              ? [
                  t('{count} times', { count: formats.number(count) }),
                  t('last on {time}', { time: formats.instant(lastAt) }),
                ]
              : [formats.instant(lastAt)]),
            ...(collections.length === 0 ? [] : [collections.join(', ')]),
            t('{rows, plural, one {# row} other {# rows}}', { rows }),
            ...(requestId === null ? [] : [t('Request {id}', { id: requestId })]),
          ].join(' · ')}
        </Text>
      </Group>
      <Stack mt="xs" gap="xs">
        <StatementText text={statement} />
        {suggestions.map((suggestion) => (
          <CodeToCopy
            key={suggestion}
            title={t('An index would help. Add to the declaration:')}
            text={suggestion}
          />
        ))}
      </Stack>
    </Card>
  );
}

function StatementText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(text.length <= LONGEST_SHOWN);
  const id = useId();
  return (
    <div>
      <Code block id={id} className={isWhole ? 'wrapped' : 'wrapped cut-lines'}>
        {text}
      </Code>
      <Group gap="xs" mt={4}>
        {text.length > LONGEST_SHOWN && (
          <TextButton
            label={isWhole ? t('Show less') : t('Show all')}
            size="compact-sm"
            aria-expanded={isWhole}
            aria-controls={id}
            onClick={() => setWhole(!isWhole)}
          />
        )}
        <CopyTextButton title={t('the statement')} text={text} />
      </Group>
    </div>
  );
}
