/** What a new key may do, picked from what the viewer may do. */
import { Checkbox, Stack, Table, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../language/use-texts';
import { useViewer } from '../shell/viewer';
import { type PickedScopes, VERB_LABELS, withVerbToggled } from './picked-scopes';

/** More rows than these are slow to look through; the others are found by their name. */
const MOST_FOUND = 8;

export interface ScopeTreeProps {
  readonly scopes: PickedScopes;
  change(scopes: PickedScopes): void;
}

export function ScopeTree({ scopes, change }: ScopeTreeProps) {
  const t = useTexts();
  const { reports } = useViewer();
  const toggleReport = (name: string) =>
    change({
      ...scopes,
      reports: scopes.reports.includes(name)
        ? scopes.reports.filter((one) => one !== name)
        : [...scopes.reports, name],
    });
  return (
    <Stack gap="xs">
      <Text fw={500} size="sm">
        {t('What it may do')}
      </Text>
      <section>
        <Text size="sm">{t('Records and their events')}</Text>
        <CollectionVerbs scopes={scopes} change={change} />
      </section>
      {reports.length > 0 && (
        <section>
          <Text size="sm">{t('Reports')}</Text>
          <Stack gap={6} mt="xs">
            {reports.map(({ name, title }) => (
              <Checkbox
                key={name}
                label={title}
                checked={scopes.reports.includes(name)}
                onChange={() => toggleReport(name)}
              />
            ))}
          </Stack>
        </section>
      )}
      <section>
        <Text size="sm">{t('Scripts')}</Text>
        <TagsInput
          mt="xs"
          label={t('Names of scripts')}
          value={[...scopes.scripts]}
          onChange={(scripts) => change({ ...scopes, scripts })}
        />
      </section>
    </Stack>
  );
}

function CollectionVerbs({ scopes, change }: ScopeTreeProps) {
  const t = useTexts();
  const viewer = useViewer();
  const [find, setFind] = useState('');
  const chosen = viewer.collections.filter(({ name }) => name in scopes.collections);
  const found = viewer.collections
    .filter(({ name }) => !(name in scopes.collections))
    .filter(({ name, title }) => `${name} ${title}`.toLowerCase().includes(find.toLowerCase()))
    .slice(0, MOST_FOUND);
  const every = { name: '*', title: t('All collections') };
  const rights: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
    viewer.collections.map(({ name, canRead, canCreate, canUpdate, canRemove }) => {
      const may = { read: canRead, create: canCreate, update: canUpdate, delete: canRemove };
      return [name, Object.keys(may).filter((verb) => may[verb as keyof typeof may])];
    }),
  );
  return (
    <div className="table-scroll scope-rows">
      <TextInput
        mt="xs"
        label={t('Find a collection')}
        value={find}
        onChange={({ currentTarget }) => setFind(currentTarget.value)}
      />
      <Table fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Collection')}</Table.Th>
            {Object.entries(VERB_LABELS).map(([verb, label]) => (
              <Table.Th key={verb}>{t(label)}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[every, ...chosen, ...found].map(({ name, title }) => (
            <Table.Tr key={name}>
              <Table.Td>{title}</Table.Td>
              {Object.entries(VERB_LABELS).map(([verb, label]) => (
                <Table.Td key={verb}>
                  <Checkbox
                    aria-label={`${t(label)}: ${title}`}
                    disabled={name !== '*' && !rights[name]?.includes(verb)}
                    checked={scopes.collections[name]?.includes(verb) ?? false}
                    onChange={() => change(withVerbToggled(scopes, name, verb))}
                  />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
