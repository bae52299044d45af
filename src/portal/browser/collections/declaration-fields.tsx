import { Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import {
  FoundFields,
  type TriedDeclarationQuery,
  UsesOfField,
} from '../../../generated/portal/collections/collections';
import type { FieldDefinition } from '../../../store/catalog/collection-definition.js';
import { useOperation } from '../gateway/use-gateway';
import { formats, phrase, say, t } from '../language/texts';
import { CodeSpans } from '../shell/code-to-copy';
import { StateTag } from '../shell/icon';
import { ActionsHead, ListTable } from '../shell/list-table';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';

interface DeclarationFieldsProps {
  readonly collection: string;
  readonly fields: readonly FieldDefinition[];
}

/** The declared fields. The uses of a field are loaded on request. */
export function DeclarationFields({ collection, fields }: DeclarationFieldsProps) {
  const [asked, setAsked] = useState<string>();
  if (fields.length === 0) {
    return (
      <EmptyState icon="table" title={t('No fields declared')}>
        {t('Its records accept any field.')}
      </EmptyState>
    );
  }
  return (
    <>
      <ListTable
        label={t('Fields')}
        rows={fields}
        columns={[
          [
            t('Field'),
            ({ name, description }) => (
              <>
                <Text ff="monospace">{name}</Text>
                <Text c="dimmed" fw={400} className="wrapped">
                  {description !== undefined && <CodeSpans text={say(description)} />}
                </Text>
              </>
            ),
            'wrapped row-head',
          ],
          [t('Type'), (field) => typeText(field), 'wrapped'],
          [t('Rules'), (field) => <FieldRules field={field} />],
          [
            <ActionsHead key="actions" />,
            ({ name }) => (
              <TextButton
                label={t('Uses')}
                size="compact-sm"
                onClick={() => setAsked(name)}
                aria-label={t('Who uses {field}', { field: name })}
              />
            ),
          ],
        ]}
      />
      {asked !== undefined && (
        <Modal
          opened
          onClose={() => setAsked(undefined)}
          title={t('Who uses {field}', { field: asked })}
          size="lg"
        >
          <FieldUses collection={collection} field={asked} />
        </Modal>
      )}
    </>
  );
}

function FieldRules({ field }: { readonly field: FieldDefinition }) {
  const rules = [
    ...(field.required ? [t('required')] : []),
    ...(field.unique ? [t('unique')] : []),
    ...(field.index ? [t('indexed')] : []),
    ...(field.searchable ? [t('searchable')] : []),
  ];
  if (rules.length === 0 && field.deprecated === undefined) return '–';
  return (
    <div>
      <Group gap={4}>
        {rules.map((rule) => (
          <StateTag key={rule}>{rule}</StateTag>
        ))}
      </Group>
      {field.deprecated !== undefined && (
        <Text className="wrapped">{t('deprecated: {reason}', { reason: field.deprecated })}</Text>
      )}
    </div>
  );
}

/** Uses in the viewer's own school. The gateway does not reveal those of other domains. */
function FieldUses({ collection, field }: { readonly collection: string; readonly field: string }) {
  const { data, error, refetch } = useOperation(UsesOfField, { collection, field });
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState rows={3} />;
  if (data.fieldUses.length === 0) {
    return (
      <EmptyState icon="search" title={t('No one, in the last 30 days')}>
        {t('Requests of this school that named the field.')}
      </EmptyState>
    );
  }
  return (
    <ListTable
      label={t('Who uses {field}', { field })}
      rows={data.fieldUses}
      keyOf={({ operation, keyId }) => `${operation} ${keyId}`}
      columns={[
        [t('Operation'), ({ operation }) => operation ?? t('without a name'), 'wrapped row-head'],
        [
          t('Who'),
          ({ keyId, keyName }) => (keyId === null ? t('users who are logged in') : (keyName ?? keyId)),
          'wrapped',
        ],
        [t('Last on'), ({ lastUsedOn }) => formats.day(lastUsedOn)],
      ]}
    />
  );
}

/** The type of a field in the words of declarations, e.g. `list of reference → registration`. */
function typeText({ type, format, list, target }: FieldDefinition): string {
  const targets = target === undefined ? [] : [target].flat();
  const text = [type, ...(format === undefined ? [] : [`(${format})`])].join(' ');
  const of = targets.length === 0 ? text : `${text} → ${targets.join(', ')}`;
  return list === true ? t('list of {type}', { type: of }) : of;
}

/** The difference in a part of a declaration. */
export type TriedChange = TriedDeclarationQuery['collectionTrial']['changes'][number];

const CHANGE_NAMES: Readonly<Record<TriedChange['kind'], string>> = {
  ADDED: phrase('Added'),
  CHANGED: phrase('Changed'),
  REMOVED: phrase('Removed'),
};

interface ChangeTableProps {
  readonly label: string;
  readonly changes: readonly TriedChange[];
}

/** The parts of a declaration that differ, before and after. */
export function ChangeTable({ label, changes }: ChangeTableProps) {
  return (
    <ListTable
      label={label}
      rows={changes}
      keyOf={({ pointer }) => pointer}
      columns={[
        [t('Part'), ({ pointer }) => pointer.slice(1), 'wrapped'],
        [t('What'), ({ kind }) => <StateTag state={kind}>{t(CHANGE_NAMES[kind])}</StateTag>],
        [t('Before'), ({ before }) => (before === null ? '–' : JSON.stringify(before)), 'wrapped'],
        [t('After'), ({ after }) => (after === null ? '–' : JSON.stringify(after)), 'wrapped'],
      ]}
    />
  );
}

/** Searches undeclared fields on request. In a large collection, it reads a sample. */
export function FoundFieldsTab({ collection }: { readonly collection: string }) {
  const [isAsked, setIsAsked] = useState(false);
  const { data, error, refetch } = useOperation(FoundFields, { collection }, { isEnabled: isAsked });
  if (!isAsked) {
    return (
      <Stack align="flex-start">
        <Text>
          {t(
            'Records can hold fields that are not declared. Forms do not show them and no rule checks them.',
          )}
        </Text>
        <TextButton label={t('Check up to 1,000 records')} onClick={() => setIsAsked(true)} />
      </Stack>
    );
  }
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState rows={3} />;
  const { sampledCount, fields } = data.undeclaredFields;
  const looked = t('{count, plural, one {# record was} other {# records were}} looked at.', {
    count: sampledCount,
  });
  if (fields.length === 0)
    return (
      <EmptyState icon="check" title={t('All fields found are declared')}>
        {looked}
      </EmptyState>
    );
  return (
    <Stack>
      <Text role="status">
        {looked} {t('Other records may have more.')}
      </Text>
      <ListTable
        label={t('Undeclared fields')}
        rows={fields}
        columns={[
          [t('Field'), ({ name }) => name, 'wrapped row-head'],
          [t('Values, as JSON has them'), ({ types }) => types.join(', ')],
          [t('Records'), ({ recordCount }) => recordCount, 'numeric'],
        ]}
      />
    </Stack>
  );
}
