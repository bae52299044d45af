/** The history of a record: every change with its fields, and buttons to restore them. */
import { Card, Group, Stack, Text } from '@mantine/core';
import {
  HistoryOfRecord,
  type HistoryOfRecordQuery,
  RecordNow,
  RestoreRecord,
  SaveRecord,
} from '../../../generated/portal/records/record';
import { GridRecords } from '../../../generated/portal/records/records';
import { useChange, useListedPages, useRights } from '../gateway/use-gateway';
import { formats, phrase, t } from '../language/texts';
import { ChangeButton, notice } from '../shell/confirm-dialog';
import { Icon, StateTag } from '../shell/icon';
import { ActionsHead, ListTable, MoreButton } from '../shell/list-table';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';
import { CREDENTIAL_NAMES, useUserNames } from '../shell/use-record-labels';
import {
  type DeclaredCollection,
  type DeclaredField,
  sayFieldName,
  valueText,
} from './use-declared-collection';

type RecordVersion = HistoryOfRecordQuery['recordHistory']['nodes'][number];

export interface HistoryTabProps {
  readonly collection: DeclaredCollection;
  readonly id: string;
  /** The current version; `undefined` for a removed record. */
  readonly version: number | undefined;
}

const PAGE_SIZE = 20;

function nameOfOperation({ operation, fromVersion }: RecordVersion): string {
  if (operation === 'deleted') return phrase('Removed');
  if (operation === 'updated') return phrase('Changed');
  return fromVersion === null ? phrase('Created') : phrase('Restored');
}

export function HistoryTab({ collection, id, version }: HistoryTabProps) {
  const asked = { collection: collection.name, id, first: PAGE_SIZE };
  const { data, error, refetch, more } = useListedPages(
    HistoryOfRecord,
    (after) => ({ ...asked, after }),
    ({ recordHistory }) => recordHistory,
  );
  const versions = data ?? [];
  const oldest = versions.at(-1);
  // The history of a record that was imported begins with its first change, which may be its removal.
  const first = oldest?.changes ? oldest.fromVersion : null;
  const nameOf = useUserNames(versions.flatMap(({ by }) => (by ? [by.principal] : [])));
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  if (versions.length === 0) {
    return (
      <EmptyState icon="history" title={t('No history')}>
        {t('The record is unchanged since it was imported, or its changes are older than the school keeps.')}
      </EmptyState>
    );
  }
  return (
    <Stack component="ol" className="plain-list" maw={900}>
      {versions.map((one) => (
        <VersionCard
          key={`${one.version} ${one.at}`}
          {...{ collection, id, current: version, nameOf }}
          change={one}
        />
      ))}
      {!more.isThere && first && (
        <Card component="li" withBorder padding="md" className="version-card">
          <Group justify="space-between">
            <Group gap="xs">
              <StateTag>{t('Version {version}', { version: first })}</StateTag>
              <Text fw={600} size="md">
                {t('Before these changes')}
              </Text>
            </Group>
            <RestoreButton {...{ collection, id, current: version }} version={first} />
          </Group>
        </Card>
      )}
      <MoreButton more={more}>{t('Older changes')}</MoreButton>
    </Stack>
  );
}

interface VersionCardProps {
  readonly collection: DeclaredCollection;
  readonly id: string;
  readonly current: number | undefined;
  readonly change: RecordVersion;
  /** The name of a user. */
  nameOf(id: string): string;
}

function VersionCard({ collection, id, current, change, nameOf }: VersionCardProps) {
  const credential = change.by?.credential.replace(/:.*/, '') ?? '';
  const madeBy = change.by
    ? [nameOf(change.by.principal), t(CREDENTIAL_NAMES[credential] ?? credential)]
    : [];
  return (
    <Card component="li" withBorder padding="md" className="version-card">
      <Group justify="space-between">
        <Group gap="xs">
          <StateTag>{t('Version {version}', { version: change.version })}</StateTag>
          <Text fw={600} size="md">
            {t(nameOfOperation(change))}
          </Text>
          <Text c="dimmed">{[formats.instant(change.at), ...madeBy].join(' · ')}</Text>
        </Group>
        {change.version !== current && change.operation !== 'deleted' && (
          <RestoreButton {...{ collection, id, current }} version={change.version} />
        )}
      </Group>
      <ChangedFields {...{ collection, id, current, change }} />
    </Card>
  );
}

interface RestoreButtonProps extends Pick<VersionCardProps, 'collection' | 'id' | 'current'> {
  readonly version: number;
}

/** Nothing for a viewer who may not restore. */
function RestoreButton({ collection, id, current, version }: RestoreButtonProps) {
  if (useRights(collection.name)?.canUpdate !== true) return null;
  return (
    <ChangeButton
      look={{ size: 'compact-sm', leftSection: <Icon name="undo" size={14} /> }}
      label={t('Restore version {version}', { version })}
      title={t('Restore version {version}?', { version })}
      action={t('Restore')}
      change={RestoreRecord}
      variables={{ collection: collection.name, id, version, ifVersion: current ?? null }}
      outdated={[GridRecords, RecordNow, HistoryOfRecord]}
      onDone={() => notice(t('The record is back at version {version}.', { version }))}
    >
      {t('The record gets the values from then, as a new version. You can undo this the same way.')}
    </ChangeButton>
  );
}

function ChangedFields({ collection, id, current, change }: Omit<VersionCardProps, 'nameOf'>) {
  const save = useChange(SaveRecord, [GridRecords, RecordNow, HistoryOfRecord]);
  const updatable = useRights(collection.name)?.updatableFields ?? [];
  const fields = new Map<string, DeclaredField>(collection.fields.map((field) => [field.name, field]));
  if (!change.changes) {
    return (
      <Text c="dimmed" mt="xs">
        {t('The values of this change were not kept.')}
      </Text>
    );
  }
  if (change.changes.length === 0) return null;
  const text = (value: unknown, path: string) => {
    const field = fields.get(path);
    if (value === null || value === undefined) return '—';
    return field ? valueText(value, field) : JSON.stringify(value);
  };
  return (
    <>
      <ListTable
        label={t('Version {version}', { version: change.version })}
        rows={change.changes}
        keyOf={({ path }) => path}
        columns={[
          [t('Field'), ({ path }) => sayFieldName(path)],
          [t('Before'), ({ path, before }) => text(before, path), 'removed-value'],
          [t('After'), ({ path, after }) => text(after, path), 'added-value'],
          [
            <ActionsHead key="actions" />,
            ({ path, before }) =>
              change.operation === 'updated' &&
              current !== undefined &&
              updatable.includes(path) && (
                <TextButton
                  label={t('Restore')}
                  size="compact-xs"
                  variant="subtle"
                  loading={save.isPending}
                  aria-label={t('Restore {field} from before', { field: sayFieldName(path) })}
                  onClick={() =>
                    save.mutate({
                      ...{ collection: collection.name, id, ifVersion: current },
                      data: { [path]: before ?? null },
                    })
                  }
                />
              ),
          ],
        ]}
      />
      {save.error && <ProblemState problem={save.error} />}
    </>
  );
}
