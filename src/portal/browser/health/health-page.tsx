/** How the gateway and its database are: for who looks after the machine. */
import {
  Alert,
  Badge,
  Button,
  Card,
  Code,
  Group,
  SimpleGrid,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { useEffect, useId } from 'react';
import { GatewayHealth, type GatewayHealthQuery } from '../../../generated/portal/health/health';
import { useOperation } from '../gateway/use-operation';
import { useFormats } from '../language/use-formats';
import { phrase, useTexts } from '../language/use-texts';
import { Icon } from '../shell/icon';
import { PageFrame } from '../shell/page-frame';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';

type HealthFigures = GatewayHealthQuery['health'];

const REFRESH_MS = 15_000;

const QUEUE_NAMES: Readonly<Record<string, string>> = {
  jobs: phrase('Jobs'),
  messages: phrase('Messages'),
  webhooks: phrase('Deliveries of webhooks'),
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
      description={t('Asked anew every 15 seconds')}
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
          title={t('The database takes no writes at the moment')}
          icon={<Icon name="warning" />}
        />
      )}
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Figure name={t('Gateway')} value={health.version} />
        <Figure name="PostgreSQL" value={health.databaseVersion} />
        <Backup ageSeconds={health.backupAgeSeconds} />
      </SimpleGrid>
      <Queues queues={health.queues} />
      <SlowStatements statements={health.slowStatements} />
      <Migrations migrations={health.migrations} />
    </>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fw={600} className="wrapped">
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
      ? t('None by the schedule yet')
      : t('{hours, plural, =0 {within the last hour} one {# hour ago} other {{count} hours ago}}', {
          hours,
          count: number(hours),
        });
  return <Figure name={t('Last backup')} value={value} />;
}

function Queues({ queues }: { readonly queues: HealthFigures['queues'] }) {
  const t = useTexts();
  const { number } = useFormats();
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" id={heading}>
        {t('What waits')}
      </Title>
      <Table aria-labelledby={heading} maw={600}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Queue')}</Table.Th>
            <Table.Th className="numeric">{t('Waiting')}</Table.Th>
            <Table.Th className="numeric">{t('Given up')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {queues.map(({ name, waiting, failed }) => (
            <Table.Tr key={name}>
              <Table.Td>{t(QUEUE_NAMES[name] ?? name)}</Table.Td>
              <Table.Td className="numeric">{number(waiting)}</Table.Td>
              <Table.Td className="numeric">{number(failed)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function SlowStatements({ statements }: { readonly statements: HealthFigures['slowStatements'] }) {
  const t = useTexts();
  const { number, instant } = useFormats();
  const heading = useId();
  return (
    <section aria-labelledby={heading}>
      <Title order={2} size="h4" mb="xs" id={heading}>
        {t('Slow statements')}
      </Title>
      {statements.length === 0 && (
        <EmptyState icon="check" title={t('None since this gateway was started')} />
      )}
      <Stack>
        {statements.map(({ at, operation, collections, durationMs, rows, statement, suggestions }) => (
          <Card withBorder key={`${at} ${statement}`}>
            <Group gap="xs">
              <Badge variant="default">{t('{ms} ms', { ms: number(durationMs) })}</Badge>
              <Text size="sm">{operation ?? t('A task of the gateway')}</Text>
              <Text size="sm" c="dimmed">
                {instant(at)} · {collections.join(', ')} ·{' '}
                {t('{rows, plural, one {# row} other {# rows}}', { rows })}
              </Text>
            </Group>
            <Code className="wrapped" mt="xs">
              {statement}
            </Code>
            {suggestions.map((suggestion) => (
              <Text size="sm" mt="xs" key={suggestion}>
                {t('An index would help; say in the declaration:')}{' '}
                <Code className="wrapped">{suggestion}</Code>
              </Text>
            ))}
          </Card>
        ))}
      </Stack>
    </section>
  );
}

function Migrations({ migrations }: { readonly migrations: readonly string[] }) {
  const t = useTexts();
  return (
    <details>
      <summary>
        {t('{count, plural, one {# migration was applied} other {# migrations were applied}}', {
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
