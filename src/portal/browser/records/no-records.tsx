import { Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useRights, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { FindInput } from '../shell/page-filter';
import { EmptyState, NotFoundState, type NotFoundStateProps } from '../shell/states';
import { TextButton } from '../shell/text-button';

export interface NoRecordsProps {
  readonly collection: string;
  readonly isFiltered: boolean;
  /** Fields in the filter that the collection does not have. */
  readonly unknown: readonly string[];
  onUnfilter(): void;
}

/** Shown in place of the grid: why it is empty, and what the viewer can do. */
export function NoRecords({ collection, isFiltered, unknown, onUnfilter }: NoRecordsProps) {
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

export interface MissingRecordProps {
  readonly above: NonNullable<NotFoundStateProps['above']>;
  /** The collection in which to search. */
  readonly collection: string | undefined;
}

/** Shown in place of a missing record: the way back, and a search. */
export function MissingRecord({ above, collection }: MissingRecordProps) {
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  if (collection === undefined) return <NotFoundState above={above} />;
  const look = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: `/portal/records/${collection}`, search: { search } as never });
  };
  return (
    <NotFoundState
      above={above}
      action={
        <form onSubmit={look}>
          <Group gap="xs" justify="center">
            <FindInput label={t('Find a record')} value={search} onChange={setSearch} />
            <TextButton label={t('Search')} type="submit" />
          </Group>
        </form>
      }
    />
  );
}
