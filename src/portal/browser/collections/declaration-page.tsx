/** The declaration of a collection: its fields, its rules, undeclared fields in its records, and the text. */
import { Group, List, Modal, Stack, Text } from '@mantine/core';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  DeclaredCollections,
  DropDeclaration,
  FoundFields,
  UsesOfField,
  WholeDeclaration,
} from '../../../generated/portal/collections/collections';
import { PortalViewer } from '../../../generated/portal/shell/viewer';
import type {
  CheckDefinition,
  CollectionDefinition,
  FieldDefinition,
  RoleAccessDefinition,
} from '../../../store/catalog/collection-definition.js';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { formats, say, t } from '../language/texts';
import { CountButton } from '../records/records-toolbar';
import { codeOf } from '../session/gateway-problem';
import { CodeSpans } from '../shell/code-to-copy';
import { ChangeButton } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { ActionsHead, ListTable } from '../shell/list-table';
import { PageTab, PageTabs } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame, ProblemState, TitledSection } from '../shell/states';
import { TextButton, TextLink } from '../shell/text-button';
import { DeclarationEditor, NO_VERSION } from './declaration-editor';

export function DeclarationPage() {
  const { collection: name = '' } = useParams({ strict: false }) as { readonly collection?: string };
  const { collections, duties } = useViewer();
  const { data, error, refetch } = useOperation(WholeDeclaration, { name });
  const mayChange = duties.includes('collections');
  const isNew = codeOf(error) === 'NOT_FOUND' && mayChange;
  const isDeclared = collections.some((one) => one.name === name && one.isDeclared);
  const written = data?.collectionDefinition as CollectionDefinition | undefined;
  const version = data?.collection?.version ?? NO_VERSION;
  return (
    <PageFrame
      title={say(written?.title ?? name)}
      above={[{ label: t('Collections'), to: '/portal/collections' }]}
      description={written && <CodeSpans text={say(written.description ?? '')} />}
      actions={
        written && (
          <>
            <CountButton asked={{ collection: name, oquery: '', where: null }} />
            <TextButton label={t('Open records')} to={`/portal/records/${name}`} />
            {mayChange && !isDeclared && <DropButton name={name} />}
          </>
        )
      }
    >
      {error && !isNew && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState rows={12} />}
      {isNew && <DeclarationEditor name={name} declared={undefined} />}
      {written && (
        <PageTabs>
          <PageTab name="fields" label={t('Fields')}>
            <DeclarationFields collection={name} fields={written.fields ?? []} />
          </PageTab>
          <PageTab name="rules" label={t('Rules')}>
            <DeclarationRules written={written} />
          </PageTab>
          <PageTab name="found" label={t('Undeclared fields')}>
            <FoundFieldsTab collection={name} />
          </PageTab>
          <PageTab name="text" label={t('Declaration')}>
            <DeclarationEditor
              key={version}
              name={name}
              declared={{ written, version }}
              isReadOnly={isDeclared || !mayChange}
            />
          </PageTab>
        </PageTabs>
      )}
    </PageFrame>
  );
}

function DropButton({ name }: { readonly name: string }) {
  const navigate = useNavigate();
  return (
    <ChangeButton
      title={t('Drop {name}?', { name })}
      action={t('Drop')}
      isDangerous
      change={DropDeclaration}
      variables={{ name }}
      outdated={[DeclaredCollections, PortalViewer]}
      onDone={() => void navigate({ to: '/portal/collections' })}
    >
      <Text>
        {t('No one will be able to read or write its records, in any branch. This cannot be undone here.')}
      </Text>
      <Group mt="sm" gap="xs">
        <CountButton asked={{ collection: name, oquery: '', where: null }} />
        <TextLink to={`/portal/records/${name}`}>{t('Open records')}</TextLink>
      </Group>
    </ChangeButton>
  );
}

/** The rules of a collection apart from those of single fields. */
function DeclarationRules({ written }: { readonly written: CollectionDefinition }) {
  const { access = {}, indexes = [], uniqueTogether = [], checks = [] } = written;
  const together = uniqueTogether.map(({ name, parts }) =>
    t('{name}: no two records share {fields}', {
      name,
      fields: parts
        .map(({ path, by }) => (by === 'day' ? t('the day of {path}', { path }) : path))
        .join(', '),
    }),
  );
  return (
    <Stack gap="lg">
      <TitledSection title={t('Permissions')}>
        <AccessTable access={access} />
        {!('admin' in access) && (
          <Text c="dimmed" mt="xs">
            {t('Admins may do everything.')}
          </Text>
        )}
      </TitledSection>
      <RuleList title={t('Unique together')} rules={together} />
      <RuleList title={t('Within a record')} rules={checks.map(textOfCheck)} />
      <RuleList title={t('Multi-field indexes')} rules={indexes.map((paths) => paths.join(', '))} />
    </Stack>
  );
}

function textOfCheck(check: CheckDefinition): string {
  const rule = ruleOf(check);
  const place = 'in' in check ? check.in : undefined;
  return place === undefined ? rule : t('{rule}, in each of {place}', { rule, place });
}

function ruleOf(check: CheckDefinition): string {
  switch (check.kind) {
    case 'sum':
      return t('{total} is the sum of {fields}', { total: check.total, fields: check.of.join(', ') });
    case 'inSession':
      return t('{fields} is a month of {session}', { fields: check.of.join(', '), session: check.session });
    case 'order':
      return t('{lower} is not above {upper}', { lower: check.lower, upper: check.upper });
    case 'distinct':
      return t('no {field} is there twice', { field: check.field });
    case 'when':
      return t('where {field} is {values}, {held} has a rule of its own', {
        ...{ field: check.field, values: check.is.join(', '), held: check.holds.field },
      });
  }
}

function RuleList({ title, rules }: { readonly title: string; readonly rules: readonly string[] }) {
  return (
    <TitledSection title={title}>
      {rules.length === 0 ? (
        <Text c="dimmed">{t('None')}</Text>
      ) : (
        <List size="sm" className="wrapped">
          {rules.map((rule) => (
            <List.Item key={rule}>{rule}</List.Item>
          ))}
        </List>
      )}
    </TitledSection>
  );
}

function AccessTable({
  access,
}: {
  readonly access: Readonly<Record<string, RoleAccessDefinition>>;
}): ReactNode {
  const roles = Object.entries(access);
  if (roles.length === 0) return null;
  return (
    <ListTable
      label={t('Permissions')}
      rows={roles}
      keyOf={([role]) => role}
      columns={[
        [t('Role'), ([role]) => role, 'wrapped row-head'],
        [t('May'), ([, { verbs }]) => verbs.map(wordOf).join(', ') || '–'],
        [
          t('Which records'),
          ([, { rows, alsoReads = [] }]) => (
            <>
              {rows === undefined
                ? t('All')
                : t('whose {fields} is among {attribute} of the user', {
                    fields: rows.fields.join(', '),
                    attribute: rows.attribute,
                  })}
              {alsoReads.map(({ fields, attribute }) => (
                <div key={`${fields.join()} ${attribute}`}>
                  {t('to read also: whose {fields} is among {attribute} of the user', {
                    fields: fields.join(', '),
                    attribute,
                  })}
                </div>
              ))}
            </>
          ),
          'wrapped',
        ],
        [t('Hidden fields'), ([, { hiddenFields = [] }]) => hiddenFields.join(', ') || '–', 'wrapped'],
        [t('Read-only fields'), ([, one]) => one.readOnlyFields?.join(', ') || '–', 'wrapped'],
      ]}
    />
  );
}

function wordOf(verb: string): string {
  if (verb === 'read') return t('read');
  if (verb === 'create') return t('make');
  return verb === 'update' ? t('change') : t('remove');
}

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
