/** The records of a collection, filtered and sorted, as a grid that loads more while scrolling. */
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { GridRecords } from '../../../generated/portal/records/records';
import { ActButtons } from '../acts/act-buttons';
import { useListedPages, useRights, useViewer } from '../gateway/use-gateway';
import { phrase, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { Deferred } from '../shell/lazy-sections';
import { useAddress } from '../shell/page-filter';
import { readJson } from '../shell/read-json';
import {
  Answered,
  EmptyState,
  LoadingState,
  NotFoundState,
  PageFrame,
  ProblemState,
  SubjectProblem,
} from '../shell/states';
import { TextButton } from '../shell/text-button';
import { BulkBar, useChosenRecords } from './bulk-bar';
import { escapeValue, parseConditions } from './filter-conditions';
import { RecordsTable } from './records-table';
import { RecordsToolbar } from './records-toolbar';
import { useSavedViews } from './saved-views-menu';
import {
  type DeclaredCollection,
  type DeclaredField,
  stateFieldsOf,
  useDeclaredCollection,
} from './use-declared-collection';
import { UnsavedRecords } from './use-draft';
import { findDefaultView, orderInAddress, SHOWN_RECORDS, toShownRecords, VIEW_ADDRESS } from './view-address';

export function RecordsPage() {
  const { collection: name = '' } = useParams({ strict: false }) as { readonly collection?: string };
  const { collection, error, refetch } = useDeclaredCollection(name);
  const mayCreate = useRights(name)?.canCreate === true;
  return (
    <SubjectProblem
      problem={error}
      label={phrase('Records')}
      missing={<NotFoundState above={[{ label: t('Records'), to: '/portal/records' }]} />}
    >
      <PageFrame
        title={collection?.title ?? name}
        above={[{ label: t('Records'), to: '/portal/records' }]}
        actions={
          <>
            <ActButtons place={{ collection: name }} />
            {mayCreate && (
              <TextButton label={t('New record')} isMain to={`/portal/records/${name}/new`} icon="plus" />
            )}
          </>
        }
        description={
          collection && <CodeSpans text={collection.description.split(/(?<=[.।])\s/, 1).join('')} />
        }
      >
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!error && !collection && <LoadingState />}
        {collection && (
          <Deferred key={name} before={<LoadingState />}>
            <DefaultView collection={name}>
              <RecordsGrid collection={collection} />
            </DefaultView>
          </Deferred>
        )}
      </PageFrame>
    </SubjectProblem>
  );
}

export interface DefaultViewProps {
  readonly collection: string;
  readonly children: ReactNode;
}

/** Opens a collection with its default view, if the address contains no filter or order. */
export function DefaultView({ collection, children }: DefaultViewProps) {
  const { id } = useViewer();
  const views = useSavedViews(collection);
  const [address, change] = useAddress(VIEW_ADDRESS);
  const isBare = Object.values(address).every((value) => value === '');
  const chosen = isBare && views ? findDefaultView(views, id) : undefined;
  useEffect(() => {
    if (chosen) change({ ...toShownRecords(chosen), view: chosen.id }, 'replace');
  }, [chosen, change]);
  const waiting = <LoadingState rows={12} />;
  return isBare && (!views || chosen) ? waiting : <Deferred before={waiting}>{children}</Deferred>;
}

const PAGE_SIZE = 100;
const MOST_COLUMNS = 8;

export function RecordsGrid({ collection }: { readonly collection: DeclaredCollection }) {
  const fields = useReadableFields(collection);
  const [{ search, oquery, where, sort, columns: shownNames }, change] = useAddress(SHOWN_RECORDS);
  const columns = chooseColumns(fields, shownNames);
  const isBare = search === '' && oquery === '' && where === '';
  const order = sort === '' && isBare ? newestFirst(fields) : sort;
  const filter = {
    collection: collection.name,
    oquery: withSearch(oquery, collection.labelField, search),
    // Invalid JSON is sent unchanged, and the gateway explains the fault.
    where: where === '' ? null : (readJson(where) ?? where),
    project: columns.map(({ name }) => name),
  };
  const unitFields = fields.some(({ unit }) => unit?.includes(' or ')) ? ['kind'] : [];
  const asked = {
    collection: filter.collection,
    // The gateway rejects a request without a filter, so that nobody reads everything by mistake. An empty
    // filter is allowed.
    oquery: filter.oquery,
    where: filter.where ?? {},
    project: [
      ...new Set([...filter.project, ...stateFieldsOf(fields).map(({ name }) => name), ...unitFields]),
    ],
    orderBy: orderInAddress(order),
    first: PAGE_SIZE,
  };
  const records = useListedPages(
    GridRecords,
    (after) => ({ ...asked, after }),
    (result) => result.records,
    // Refetching would load all loaded pages again, one after the other.
    { refetchOnWindowFocus: false, refetchOnReconnect: false },
  );
  const counted = { collection: filter.collection, oquery: filter.oquery, where: filter.where };
  const viewer = useViewer();
  const chosen = useChosenRecords(
    JSON.stringify(counted),
    `chosen:${viewer.domain.id}:${viewer.id}:${collection.name}`,
  );
  const isFiltered = filter.oquery !== '' || where !== '';
  return (
    <>
      <RecordsToolbar
        fields={fields}
        asked={{ ...filter, sort }}
        labelField={collection.labelField}
        search={search}
        onSearch={(text) => change({ search: text }, 'replace')}
        onColumns={(names) => change({ columns: names.join(',') }, 'replace')}
        filter={{ oquery, where }}
        onFilter={change}
      />
      <UnsavedRecords collection={collection.name} />
      <Answered
        of={records}
        rows={12}
        empty={
          <NoRecords
            collection={collection.name}
            isFiltered={isFiltered}
            unknown={unknownFieldsOf(filter.oquery, fields)}
            onUnfilter={() => change({ search: '', oquery: '', where: '' })}
          />
        }
      >
        {(rows) => (
          <Deferred before={<LoadingState />}>
            <RecordsTable
              {...{ columns, rows, chosen, more: records.more }}
              sort={order}
              collection={collection}
              // The default order is not in the address: a first press on its column sorts the oldest first.
              onSort={(next) => change({ sort: next === sort ? order.slice(1) : next })}
            />
          </Deferred>
        )}
      </Answered>
      <BulkBar {...{ collection, chosen }} filter={counted} />
    </>
  );
}

interface NoRecordsProps {
  readonly collection: string;
  readonly isFiltered: boolean;
  /** Fields in the filter that the collection does not have. */
  readonly unknown: readonly string[];
  onUnfilter(): void;
}

/** Shown in place of the grid: why it is empty, and what the viewer can do. */
function NoRecords({ collection, isFiltered, unknown, onUnfilter }: NoRecordsProps) {
  const { mayImport } = useViewer();
  const rights = useRights(collection);
  if (isFiltered) {
    return (
      <EmptyState
        icon="table"
        title={t('No records')}
        action={<TextButton label={t('Clear the filter')} onClick={onUnfilter} />}
      >
        {t('No records match the filter. Change or remove it.')}
        {unknown.length > 0 && ` ${t('Unknown or hidden here: {fields}.', { fields: unknown.join(', ') })}`}
      </EmptyState>
    );
  }
  // A viewer who may not create records often sees only a part of the collection, which may be empty although
  // the collection is not.
  if (!rights?.canCreate) {
    return (
      <EmptyState icon="table" title={t('No records')}>
        {t('Nothing here yet that your role may see.')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="table"
      title={t('No records')}
      action={
        <>
          <TextButton
            label={t('Create the first one')}
            to={`/portal/records/${collection}/new`}
            variant={mayImport ? 'default' : 'filled'}
          />
          {mayImport && rights.canUpdate && (
            <TextButton
              label={t('Import a file')}
              isMain
              to="/portal/imports"
              search={{ collection }}
              icon="upload"
            />
          )}
        </>
      }
    >
      {t('Nothing has been recorded here yet.')}
    </EmptyState>
  );
}

/** The columns in the address, otherwise the first ones that fit. */
function chooseColumns(fields: readonly DeclaredField[], chosen: string): readonly DeclaredField[] {
  const names = new Set(chosen.split(','));
  const found = fields.filter(({ name }) => names.has(name));
  return found.length > 0 ? found : fields.filter(({ type }) => type !== 'object').slice(0, MOST_COLUMNS);
}

/** Fields in a filter that the viewer does not see, such as a removed field. */
function unknownFieldsOf(oquery: string, fields: readonly DeclaredField[]): readonly string[] {
  const known = new Set(['_id', ...fields.map(({ name }) => name)]);
  const asked = (parseConditions(oquery) ?? []).map(({ field }) => field);
  return [...new Set(asked.filter((path) => !known.has(path.split('.')[0] ?? path)))];
}

/** The search is added to the conditions of the filter, so that an export contains the same records. */
function withSearch(oquery: string, labelField: string | null, search: string): string {
  const text = search.trim();
  if (text === '' || !labelField) return oquery;
  const found = `${labelField}=*${escapeValue(text)}`;
  return oquery === '' ? found : `${oquery},${found}`;
}

/** The label identifies and opens a record. It is the first column. */
function useReadableFields({ name, fields, labelField }: DeclaredCollection): readonly DeclaredField[] {
  const readable = new Set(useRights(name)?.readableFields);
  const isLabel = (field: DeclaredField) => Number(field.name === labelField);
  return fields
    .filter((field) => readable.has(field.name))
    .sort((one, other) => isLabel(other) - isLabel(one));
}

/**
 * A list without filter and order begins with the newest, by the first indexed day that every record has.
 * With a filter, such an order could make the database read far more than the records that match.
 */
function newestFirst(fields: readonly DeclaredField[]): string {
  const day = fields.find(
    ({ type, isRequired, isIndexed }) => type === 'datetime' && isRequired && isIndexed,
  );
  return day === undefined ? '' : `-${day.name}`;
}
