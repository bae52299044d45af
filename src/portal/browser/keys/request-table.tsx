import { Code } from '@mantine/core';
import type { UsageOfKeyQuery } from '../../../generated/portal/keys/keys';
import { useFormats, useTexts } from '../language/use-texts';
import { type VirtualColumn, VirtualTable } from '../shell/virtual-table';

type KeyRequest = NonNullable<UsageOfKeyQuery['apiKeyUsage']>['requests'][number];
type RequestRow = KeyRequest & { readonly id: string };

/** The operation that the gateway stores for a path without a route. */
const NO_ROUTE = 'unknown';
/** All stored requests were loaded at once. */
const NO_MORE = { isThere: false, isLoading: false, load: () => undefined };

/** The requests of a key, the newest first. */
export function RequestTable({ requests }: { readonly requests: readonly KeyRequest[] }) {
  const t = useTexts();
  const { instant, number } = useFormats();
  const wordsFor = (operation: string) => (operation === NO_ROUTE ? t('Unknown path') : operation);
  const columns: readonly VirtualColumn<RequestRow>[] = [
    { name: 'at', head: t('Ended'), width: 190, cell: ({ at }) => instant(at), title: ({ at }) => at },
    {
      name: 'operation',
      head: t('Operation or path'),
      width: 230,
      cell: ({ operation }) => wordsFor(operation),
      title: ({ operation }) => wordsFor(operation),
    },
    { name: 'status', head: t('Status'), width: 90, isNumeric: true, cell: ({ status }) => status },
    {
      name: 'ms',
      head: 'ms',
      width: 100,
      isNumeric: true,
      cell: ({ durationMs }) => number(durationMs),
    },
    {
      name: 'cost',
      head: t('Cost'),
      width: 90,
      isNumeric: true,
      cell: ({ cost }) => (cost === null ? '–' : number(cost)),
    },
    {
      name: 'request',
      head: t('Request'),
      width: 330,
      cell: ({ requestId }) => <Code>{requestId}</Code>,
      title: ({ requestId }) => requestId,
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
        more={NO_MORE}
        total={t('{count, plural, one {# request} other {# requests}}', { count: rows.length })}
      />
    </div>
  );
}
