/** The health of the gateway and its database, for operators. */
import { Alert, Button, Card, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useEffect, useId } from 'react';
import { GatewayHealth, type GatewayHealthQuery } from '../../../generated/portal/health/health';
import { useOperation } from '../gateway/use-gateway';
import { phrase, useFormats, useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { LoadingState, PageFrame, ProblemState } from '../shell/states';
import { SlowStatementList } from './slow-statement-list';

type HealthFigures = GatewayHealthQuery['health'];

const REFRESH_MS = 15_000;

const QUEUE_NAMES: Readonly<Record<string, string>> = {
  jobs: phrase('Jobs'),
  messages: phrase('Messages'),
  webhooks: phrase('Webhook deliveries'),
};

export function HealthPage() {
  const t = useTexts();
  const { data, error, isFetching, refetch } = useOperation(GatewayHealth, {});
  useEffect(() => {
    const timer = setInterval(() => void refetch(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [refetch]);
  return (
    <PageFrame
      title={t('Health')}
      description={t('Updates every 15 seconds')}
      actions={
        <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
          {t('Refresh')}
        </Button>
      }
    >
      <Stack>
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {data ? <HealthDetails health={data.health} /> : !error && <LoadingState />}
      </Stack>
    </PageFrame>
  );
}

function HealthDetails({ health }: { readonly health: HealthFigures }) {
  const t = useTexts();
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
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Figure name={t('Gateway')} value={health.version} />
        <Figure name="PostgreSQL" value={health.databaseVersion} />
        <Backup ageSeconds={health.backupAgeSeconds} />
      </SimpleGrid>
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
function Verdict({ health: { isReadOnly, queues, replicas } }: { readonly health: HealthFigures }) {
  const t = useTexts();
  const { number } = useFormats();
  if (isReadOnly) return null;
  const failed = queues.reduce((sum, queue) => sum + queue.failed, 0);
  const away = replicas.filter(({ lagMs }) => lagMs === null).length;
  const faults = [
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
        <Text size="sm" c="dimmed">
          {waiting === 0
            ? t('Nothing is waiting in a queue')
            : t('{count} waiting in queues', { count: number(waiting) })}
        </Text>
      </div>
    </Card>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fw={600} size="lg" className="wrapped">
        {value}
      </Text>
    </Card>
  );
}

function Backup({ ageSeconds }: { readonly ageSeconds: number | null }) {
  const t = useTexts();
  const { number } = useFormats();
  const hours = ageSeconds === null ? null : Math.floor(ageSeconds / 3600);
  const value =
    hours === null
      ? t('No scheduled backup yet')
      : t('{hours, plural, =0 {within the last hour} one {# hour ago} other {{count} hours ago}}', {
          hours,
          count: number(hours),
        });
  return <Figure name={t('Last backup')} value={value} />;
}

function Queues({ queues }: { readonly queues: HealthFigures['queues'] }) {
  const t = useTexts();
  const { number } = useFormats();
  return (
    <FigureTable
      title={t('Queues')}
      heads={[t('Queue'), t('Waiting'), t('Failed')]}
      rows={queues.map(({ name, waiting, failed }) => ({
        id: name,
        cells: [t(QUEUE_NAMES[name] ?? name), number(waiting), number(failed)],
      }))}
    />
  );
}

function Gateways({ health: { gateways, replicas } }: { readonly health: HealthFigures }) {
  const t = useTexts();
  const { instant, number } = useFormats();
  return (
    <Stack>
      <FigureTable
        title={t('Gateways')}
        heads={[t('Address'), t('Connected since')]}
        rows={gateways.map(({ address, connectedSince }) => ({
          id: `${address} ${connectedSince}`,
          cells: [address ?? t('same machine as the database'), instant(connectedSince)],
        }))}
      />
      {replicas.length > 0 && (
        <FigureTable
          title={t('Replicas')}
          heads={[t('Server'), t('Behind by'), t('Reads')]}
          rows={replicas.map(({ name, lagMs, reads }) => ({
            id: name,
            cells: [
              name,
              lagMs === null ? t('unreachable') : t('{ms} ms', { ms: number(lagMs) }),
              number(reads),
            ],
          }))}
        />
      )}
    </Stack>
  );
}

interface FigureTableProps {
  readonly title: string;
  /** All columns but the first contain numbers. */
  readonly heads: readonly string[];
  readonly rows: readonly { readonly id: string; readonly cells: readonly string[] }[];
}

function FigureTable({ title, heads, rows }: FigureTableProps) {
  const heading = useId();
  const classOf = (column: number) => (column === 0 ? 'wrapped' : 'numeric');
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb="xs" id={heading}>
        {title}
      </Title>
      <Table aria-labelledby={heading}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head, column) => (
              <Table.Th key={head} className={classOf(column)}>
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ id, cells }) => (
            <Table.Tr key={id}>
              {cells.map((text, column) => (
                <Table.Td key={heads[column]} className={classOf(column)}>
                  {text}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Migrations({ migrations }: { readonly migrations: readonly string[] }) {
  const t = useTexts();
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
