import { List, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';
import { ListTable } from '../shell/list-table';
import type { WrittenAccess, WrittenCheck, WrittenDeclaration } from './written-declaration';

/** The rules of a collection apart from those of single fields. */
export function DeclarationRules({ written }: { readonly written: WrittenDeclaration }) {
  const t = useTexts();
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
      <section>
        <Title mb="xs">{t('Permissions')}</Title>
        <AccessTable access={access} />
        {!('admin' in access) && (
          <Text c="dimmed" mt="xs">
            {t('Admins may do everything.')}
          </Text>
        )}
      </section>
      <RuleList title={t('Unique together')} rules={together} />
      <RuleList title={t('Within a record')} rules={checks.map((check) => textOfCheck(check, t))} />
      <RuleList title={t('Multi-field indexes')} rules={indexes.map((paths) => paths.join(', '))} />
    </Stack>
  );
}

function textOfCheck(check: WrittenCheck, t: ReturnType<typeof useTexts>): string {
  if (check.kind === 'sum')
    return t('{total} is the sum of {fields}', { total: check.total, fields: check.of.join(', ') });
  const { lower, upper, in: place } = check;
  const rule = t('{lower} is not above {upper}', { lower, upper });
  return place === undefined ? rule : t('{rule}, in each of {place}', { rule, place });
}

function RuleList({ title, rules }: { readonly title: string; readonly rules: readonly string[] }) {
  const t = useTexts();
  return (
    <section>
      <Title mb="xs">{title}</Title>
      {rules.length === 0 ? (
        <Text c="dimmed">{t('None')}</Text>
      ) : (
        <List size="sm" className="wrapped">
          {rules.map((rule) => (
            <List.Item key={rule}>{rule}</List.Item>
          ))}
        </List>
      )}
    </section>
  );
}

function AccessTable({ access }: { readonly access: Readonly<Record<string, WrittenAccess>> }): ReactNode {
  const t = useTexts();
  const roles = Object.entries(access);
  if (roles.length === 0) return null;
  return (
    <ListTable
      label={t('Permissions')}
      rows={roles}
      keyOf={([role]) => role}
      columns={[
        [t('Role'), ([role]) => role, 'wrapped row-head'],
        [t('May'), ([, { verbs }]) => verbs.map((verb) => wordOf(verb, t)).join(', ') || '–'],
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

function wordOf(verb: string, t: ReturnType<typeof useTexts>): string {
  if (verb === 'read') return t('read');
  if (verb === 'create') return t('make');
  return verb === 'update' ? t('change') : t('remove');
}
