/** The toolbar above the grid: search, filter, columns, count and export. */
import { Checkbox, Group, Menu, Popover, ScrollArea, Stack } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { CountedRecords, type CountedRecordsQuery } from '../../../generated/portal/records/grid-count';
import { type GatewayClient } from '../gateway/gateway-client';
import { useDownload, useGateway } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { PrintMenu } from '../prints/print-menu';
import { notice } from '../shell/confirm-dialog';
import { FindInput } from '../shell/page-filter';
import { TextButton } from '../shell/text-button';
import { FilterButton } from './filter-button';
import { SavedViewsMenu } from './saved-views-menu';
import { type DeclaredField, sayFieldName } from './use-declared-collection';
import { EXPORT_FORMATS } from './view-address';

/** The query of a collection, with the parameters of REST. */
interface AskedRecords extends CountedFilter {
  readonly sort: string;
  readonly project: readonly string[];
}

interface RecordsToolbarProps {
  readonly fields: readonly DeclaredField[];
  readonly asked: AskedRecords;
  /** The field to search; `null` if there is none. */
  readonly labelField: string | null;
  readonly search: string;
  onSearch(text: string): void;
  onColumns(names: readonly string[]): void;
  /** The filter without the search. */
  readonly filter: { readonly oquery: string; readonly where: string };
  onFilter(filter: { readonly oquery: string; readonly where: string }): void;
}

export function RecordsToolbar(props: RecordsToolbarProps) {
  const { fields, asked, labelField, search, onSearch, onColumns, filter, onFilter } = props;
  return (
    <Group gap="xs" mb="sm" className="grid-bar">
      <SavedViewsMenu collection={asked.collection} />
      {labelField !== null && (
        <SearchField
          value={search}
          label={t('Search by {field}', { field: sayFieldName(labelField).toLowerCase() })}
          onSearch={onSearch}
        />
      )}
      <FilterButton {...filter} {...{ fields, onFilter }} />
      <ColumnsMenu fields={fields} shown={asked.project} onShow={onColumns} />
      <CountButton asked={asked} />
      <ExportMenu asked={asked} />
      <PrintMenu
        collection={asked.collection}
        address={({ by }) =>
          // Without a filter, the document lets the user choose one set.
          by && asked.oquery === '' && asked.where === null
            ? {}
            : { oquery: asked.oquery, where: JSON.stringify(asked.where ?? {}), sort: asked.sort }
        }
      />
    </Group>
  );
}

function SearchField({
  value,
  label,
  onSearch,
}: {
  readonly value: string;
  readonly label: string;
  onSearch(text: string): void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // Leaving the field applies what is typed, so that the next action, such as an export, includes it.
  const search = useDebouncedCallback(onSearch, 300);
  return (
    <FindInput
      label={label}
      value={text}
      onChange={(next) => {
        setText(next);
        search(next);
      }}
      onBlur={search.flush}
    />
  );
}

function ColumnsMenu({
  fields,
  shown,
  onShow,
}: {
  readonly fields: readonly DeclaredField[];
  readonly shown: readonly string[];
  onShow(names: readonly string[]): void;
}) {
  return (
    <Popover position="bottom-end" withArrow trapFocus>
      <Popover.Target>
        <TextButton label={t('Columns')} icon="columns" />
      </Popover.Target>
      <Popover.Dropdown>
        <ScrollArea.Autosize mah={360}>
          <Checkbox.Group
            aria-label={t('Columns')}
            value={[...shown]}
            onChange={(chosen) =>
              onShow(fields.map(({ name }) => name).filter((one) => chosen.includes(one)))
            }
          >
            <Stack gap="xs">
              {fields.map(({ name }) => (
                <Checkbox key={name} value={name} label={sayFieldName(name)} />
              ))}
            </Stack>
          </Checkbox.Group>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}

function ExportMenu({ asked }: { readonly asked: AskedRecords }) {
  const { collection } = asked;
  const { mutate, isPending } = useDownload();
  const start = (format: string) => {
    const address = new URLSearchParams({ ...addressOf(asked), project: asked.project.join(','), format });
    const path = `/o/recs/${collection}?${address}`;
    const onError = ({ message }: Error) => notice(message, 'failed');
    mutate({ path, name: `${collection}.${format}` }, { onError });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <TextButton label={t('Export')} icon="download" loading={isPending} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t('All filtered records, with these columns')}</Menu.Label>
        {EXPORT_FORMATS.map(([format, label]) => (
          <Menu.Item key={format} onClick={() => start(format)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function addressOf({ oquery, where, sort }: AskedRecords): Record<string, string> {
  return {
    ...(oquery !== '' && { oquery, ci: 'true' }),
    ...(where !== null && { where: JSON.stringify(where) }),
    ...(sort !== '' && { sort }),
  };
}

/** A larger number is of no use to anybody. */
const MOST_COUNTED = 10_000;

/** Counts the records when it is pressed. */
export function CountButton({ asked }: { readonly asked: CountedFilter }) {
  const gateway = useGateway();
  const filter = JSON.stringify([asked.oquery, asked.where]);
  const { mutate, data, variables, isPending } = useMutation({
    mutationFn: (_filter: string) => countUpToMost(gateway, asked, MOST_COUNTED),
  });
  const isOfFilter = variables === filter;
  if (data === undefined || !isOfFilter) {
    return <TextButton label={t('Count')} loading={isPending && isOfFilter} onClick={() => mutate(filter)} />;
  }
  return (
    <output className="count">
      {data > MOST_COUNTED
        ? `${formats.number(MOST_COUNTED)}+`
        : t('{count, plural, one {# record} other {# records}}', { count: data })}
    </output>
  );
}

/** The records to count, by the parameters of REST. */
export interface CountedFilter {
  readonly collection: string;
  readonly oquery: string;
  /** The filter as `where`; null for none. */
  readonly where: unknown;
}

const COUNTED_AT_ONCE = 1_000;

/**
 * Counts up to `most` records, because counting a whole large collection takes seconds. The result is greater
 * than `most` if there are more.
 */
export async function countUpToMost(
  gateway: GatewayClient,
  { collection, oquery, where }: CountedFilter,
  most: number,
): Promise<number> {
  const filter = {
    collection,
    oquery,
    where: where ?? {},
    first: COUNTED_AT_ONCE,
  };
  let after: string | null = null;
  for (let count = 0; ; ) {
    const { records }: CountedRecordsQuery = await gateway.execute(CountedRecords, { ...filter, after });
    count += records.nodes.length;
    if (!records.pageInfo.hasNextPage) return count;
    if (count >= most) return count + 1;
    after = records.pageInfo.endCursor ?? null;
  }
}
