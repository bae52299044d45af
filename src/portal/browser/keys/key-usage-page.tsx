/** The usage of a key: figures by hour, the rest of its rate limit, and its last requests. */
import { Code, Group, Paper, Stack, Title } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { ApiKeysOfPortal, UsageOfKey, type UsageOfKeyQuery } from '../../../generated/portal/keys/keys';
import { ChartCanvas } from '../charts/chart-canvas';
import { useOperation } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import { StateTag } from '../shell/icon';
import { useAddress } from '../shell/page-filter';
import { Answered, EmptyState, NotFoundState, PageFrame, TitledSection } from '../shell/states';
import { ChoiceField } from '../shell/text-field';
import { textColumn, type VirtualColumn, VirtualTable } from '../shell/virtual-table';

type Usage = UsageOfKeyQuery['apiKeyUsage'];

const HOUR_MS = 3_600_000;
/** A request appears within five seconds, because the gateway stores them every two seconds. */
const REFRESH_MS = 3_000;

export function KeyUsagePage() {
  const { key: id = '' } = useParams({ strict: false }) as { readonly key?: string };
  const [{ hours }, change] = useAddress({ hours: '24' });
  const keys = useOperation(ApiKeysOfPortal, {});
  const asked = { id, hours: Math.min(720, Math.max(1, Math.trunc(Number(hours)) || 24)) };
  const answer = useOperation(UsageOfKey, asked, { keepsPrevious: true, everyMs: REFRESH_MS });
  const { error } = answer;
  const above = [{ label: t('API keys'), to: '/portal/keys' }];
  if (codeOf(error) === 'NOT_FOUND') return <NotFoundState above={above} />;
  const listed = keys.data?.apiKeys.find((one) => one.id === id);
  return (
    <PageFrame
      title={listed ? t('Usage of {name}', { name: listed.name }) : t('Usage of a key')}
      description={listed && <Code>{listed.prefix}…</Code>}
      above={above}
      actions={
        <ChoiceField
          aria-label={t('Time')}
          value={hours}
          onChange={(next) => change({ hours: next })}
          data={[
            { value: '24', label: t('The last 24 hours') },
            { value: '168', label: t('The last 7 days') },
            { value: '720', label: t('The last 30 days') },
          ]}
        />
      }
    >
      <Answered of={answer}>
        {({ apiKeyUsage }) => <UsageFigures usage={apiKeyUsage} hours={asked.hours} />}
      </Answered>
    </PageFrame>
  );
}

function UsageFigures({ usage, hours }: { readonly usage: Usage; readonly hours: number }) {
  const { total, limitPerMinute, leftThisMinute, requests } = usage;
  const figures = [
    [t('Requests'), formats.number(total.requests), undefined],
    [t('Errors'), formats.number(total.errors), t('with an error in the answer')],
    [t('Rate limited'), formats.number(total.refused), t('refused with 429')],
    [t('Median time'), `${formats.number(total.medianMs)} ms`, t('half were faster')],
    [t('95th percentile'), `${formats.number(total.p95Ms)} ms`, t('95 of 100 were faster')],
    [
      t('Left this minute'),
      formats.number(leftThisMinute),
      t('of {limit, number} a minute', { limit: limitPerMinute }),
    ],
  ] as const;
  return (
    <Stack gap="md">
      <dl className="figures">
        {figures.map(([name, value, note]) => (
          <Paper key={name} withBorder p="sm">
            <dt>{name}</dt>
            <dd>{value}</dd>
            {note !== undefined && <dd className="dimmed">{note}</dd>}
          </Paper>
        ))}
      </dl>
      <UsageCharts usage={usage} hours={hours} />
      <Paper component="section" withBorder p="md">
        <Group gap="xs" mb="sm">
          <Title>{t('Last requests')}</Title>
          <StateTag>{formats.number(requests.length)}</StateTag>
        </Group>
        {requests.length === 0 ? (
          <EmptyState icon="key" title={t('No requests yet with this key')} />
        ) : (
          <RequestTable requests={requests} />
        )}
      </Paper>
    </Stack>
  );
}

function UsageCharts({ usage, hours }: { readonly usage: Usage; readonly hours: number }) {
  const { locale, timeZone } = formats;
  const ofDay = hours > 24 && ({ day: 'numeric', month: 'short' } as const);
  const label = new Intl.DateTimeFormat(locale, { hour: 'numeric', ...ofDay, timeZone });
  if (usage.total.requests === 0) return null;
  const byHour = new Map(usage.hours.map((one) => [Date.parse(one.hour), one]));
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  // The last hour with requests may be later than now, if the clock of this browser is slow.
  const end = Math.max(now, ...byHour.keys());
  const times = Array.from({ length: hours }, (_, index) => end - (hours - 1 - index) * HOUR_MS);
  const found = times.map((time) => byHour.get(time));
  const labels = times.map((time) => label.format(time));
  const shared = { labels, isOverTime: true, unit: 'number', height: 220 } as const;
  return (
    <div className="section-columns">
      <TitledSection isFramed mb="sm" title={t('Requests by hour')}>
        <ChartCanvas
          {...shared}
          kind="stackedBar"
          title={t('Requests by hour')}
          series={[
            {
              name: t('Succeeded'),
              values: found.map((one) => (one ? one.requests - one.errors : 0)),
            },
            { name: t('Errors'), values: found.map((one) => (one ? one.errors - one.refused : 0)) },
            { name: t('Rate limited'), values: found.map((one) => one?.refused ?? 0) },
          ]}
        />
      </TitledSection>
      <TitledSection isFramed mb="sm" title={t('95th percentile of the time of a request, in milliseconds')}>
        <ChartCanvas
          {...shared}
          kind="bar"
          title={t('95th percentile of the time of a request, in milliseconds')}
          series={[{ name: 'ms', values: found.map((one) => one?.p95Ms ?? 0) }]}
        />
      </TitledSection>
    </div>
  );
}

type KeyRequest = Usage['requests'][number];
type RequestRow = KeyRequest & { readonly id: string };

/** The operation that the gateway stores for a path without a route. */
const NO_ROUTE = 'unknown';

/** The requests of a key, the newest first. */
function RequestTable({ requests }: { readonly requests: readonly KeyRequest[] }) {
  const wordsFor = (operation: string) => (operation === NO_ROUTE ? t('Unknown path') : operation);
  const columns: readonly VirtualColumn<RequestRow>[] = [
    {
      ...textColumn<RequestRow>('at', t('Ended'), 190, ({ at }) => formats.instant(at)),
      title: ({ at }) => at,
    },
    textColumn('operation', t('Operation or path'), 230, ({ operation }) => wordsFor(operation)),
    textColumn('status', t('Status'), 90, ({ status }) => String(status), 'numeric'),
    textColumn('ms', 'ms', 100, ({ durationMs }) => formats.number(durationMs), 'numeric'),
    textColumn('cost', t('Cost'), 90, ({ cost }) => (cost === null ? '–' : formats.number(cost)), 'numeric'),
    {
      ...textColumn<RequestRow>('request', t('Request'), 330, ({ requestId }) => requestId),
      cell: ({ requestId }) => <Code>{requestId}</Code>,
    },
  ];
  // A caller may send the same id with several requests.
  const rows = requests.map((one, index) => ({ ...one, id: `${one.requestId} ${requests.length - index}` }));
  return (
    <div className="request-scroll">
      <VirtualTable
        label={t('Last requests')}
        columns={columns}
        rows={rows}
        total={t('{count, plural, one {# request} other {# requests}}', { count: rows.length })}
      />
    </div>
  );
}
