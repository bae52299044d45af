import { Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import {
  FoundFields,
  type TriedDeclarationQuery,
  UsesOfField,
} from '../../../generated/portal/collections/collections';
import { useOperation } from '../gateway/use-gateway';
import { phrase, type Texts, useFormats, useReportWords, useTexts } from '../language/use-texts';
import { CodeSpans } from '../shell/code-to-copy';
import { StateTag } from '../shell/icon';
import { ActionsHead, ListTable } from '../shell/list-table';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { TextButton } from '../shell/text-button';

interface DeclarationFieldsProps {
  readonly collection: string;
  readonly fields: readonly WrittenField[];
}

/** The declared fields. The uses of a field are loaded on request. */
export function DeclarationFields({ collection, fields }: DeclarationFieldsProps) {
  const t = useTexts();
  const say = useReportWords();
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
          [t('Type'), (field) => typeText(field, t), 'wrapped'],
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
          closeButtonProps={{ 'aria-label': t('Close') }}
        >
          <FieldUses collection={collection} field={asked} />
        </Modal>
      )}
    </>
  );
}

function FieldRules({ field }: { readonly field: WrittenField }) {
  const t = useTexts();
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
  const t = useTexts();
  const formats = useFormats();
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
function typeText({ type, format, list, target }: WrittenField, t: Texts): string {
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
  const t = useTexts();
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
  const t = useTexts();
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

/** The parts of a declaration that a page describes in words. The rest is shown as JSON. */
export interface WrittenDeclaration {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly fields?: readonly WrittenField[];
  readonly indexes?: readonly (readonly string[])[];
  readonly uniqueTogether?: readonly {
    readonly name: string;
    readonly parts: readonly { readonly path: string; readonly by?: 'value' | 'day' }[];
  }[];
  readonly checks?: readonly WrittenCheck[];
  readonly access?: Readonly<Record<string, WrittenAccess>>;
}

export interface WrittenField {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  readonly list?: boolean;
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly index?: boolean;
  readonly searchable?: boolean;
  readonly format?: string;
  readonly target?: string | readonly string[];
  readonly deprecated?: string;
}

export interface WrittenAccess {
  readonly verbs: readonly string[];
  readonly hiddenFields?: readonly string[];
  readonly readOnlyFields?: readonly string[];
  readonly rows?: WrittenRowRule;
  readonly alsoReads?: readonly WrittenRowRule[];
}

interface WrittenRowRule {
  readonly fields: readonly string[];
  readonly attribute: string;
}

export type WrittenCheck =
  | { readonly kind: 'sum'; readonly total: string; readonly of: readonly string[] }
  | { readonly kind: 'order'; readonly in?: string; readonly lower: string; readonly upper: string };
