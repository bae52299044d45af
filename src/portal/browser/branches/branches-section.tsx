/** The branches of the school, with links to open them, and a button to create another one. */
import { Anchor, Code, Group, Modal, NativeSelect, NavLink, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { MakeBranch, SchoolBranches } from '../../../generated/portal/branches/branches';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { t } from '../language/texts';
import { homeOfBranch } from '../session/graphql-headers';
import { DialogButton, InputDialog, SubmitForm } from '../shell/confirm-dialog';
import { ListTable } from '../shell/list-table';
import { FindInput } from '../shell/page-filter';
import { EmptyState, LoadingState, ProblemState } from '../shell/states';
import { TextField } from '../shell/text-field';

export function BranchesSection() {
  const { domain, duties } = useViewer();
  const { data } = useOperation(SchoolBranches, {});
  if (!data) return null;
  return (
    <div>
      <Group justify="space-between" mb="xs" maw={820}>
        <Title>{t('School and branches')}</Title>
        {duties.includes('branches') && (
          <DialogButton
            label={t('New branch')}
            icon="plus"
            dialog={(close) => <NewBranchDialog onClose={close} />}
          />
        )}
      </Group>
      <ListTable
        label={t('School and branches')}
        rows={data.me.branches}
        columns={[
          [
            t('Name'),
            ({ id, name }) =>
              id === domain.id ? (
                <Text span inherit fw={600}>
                  {name}
                </Text>
              ) : (
                <Anchor inherit href={homeOfBranch(id)}>
                  {name}
                </Anchor>
              ),
            'wrapped',
          ],
          ['X-Domain', ({ id }) => <Code className="wrapped">{id}</Code>],
          [t('Time zone'), ({ timeZone }) => timeZone],
        ]}
      />
    </div>
  );
}

/** Creates a branch and opens it, because its users must be invited next. */
export function NewBranchDialog({ onClose }: { onClose(): void }) {
  const { domain } = useViewer();
  const make = useChange(MakeBranch, [SchoolBranches]);
  const { data } = make;
  return (
    <InputDialog opened onClose={onClose} title={t('New branch')}>
      {data ? (
        <Stack>
          <Text role="status">
            {t('{name} has been created. It has no records or users yet: go there and invite its people.', {
              name: data.createBranch.name,
            })}
          </Text>
          <Anchor href={homeOfBranch(data.createBranch.id)} size="md">
            {t('Go to {name}', { name: data.createBranch.name })}
          </Anchor>
        </Stack>
      ) : (
        <SubmitForm
          action={t('Create branch')}
          of={make}
          onSubmit={({ name = '', id = '', timeZone = '' }) =>
            make.mutate({ data: { name: name.trim(), id: id.trim(), timeZone } })
          }
        >
          <Text>
            {t('A part of the school with records, users and settings of its own.')}{' '}
            {t('Its users write the short name when they log in.')}
          </Text>
          <SchoolFields timeZone={domain.timeZone} />
        </SubmitForm>
      )}
    </InputDialog>
  );
}

/** A longer list gets a search, because it does not fit on the screen. */
const MOST_WITHOUT_SEARCH = 8;
/** The most search results to show. */
const MOST_SHOWN = 100;

/** The schools that the user may work in. Opening one reloads the page. */
export function BranchDialog({ onClose }: { onClose(): void }) {
  const { domain } = useViewer();
  const [words, setWords] = useState('');
  const { data, error, refetch } = useOperation(SchoolBranches, {});
  const branches = data?.me.branches ?? [];
  const found = branches.filter(({ id, name }) =>
    `${name} ${id}`.toLowerCase().includes(words.trim().toLowerCase()),
  );
  return (
    <Modal opened onClose={onClose} title={t('Switch to another school')}>
      <Stack gap="xs">
        {error && <ProblemState problem={error} retry={() => void refetch()} />}
        {!data && !error && <LoadingState rows={3} />}
        {branches.length > MOST_WITHOUT_SEARCH && (
          <FindInput label={t('Find a school')} value={words} onChange={setWords} />
        )}
        {data && found.length === 0 && <EmptyState icon="search" title={t('No school has these words')} />}
        <nav aria-label={t('Schools')}>
          {found.slice(0, MOST_SHOWN).map(({ id, name }) => (
            <NavLink
              key={id}
              href={homeOfBranch(id)}
              label={name}
              description={<Code>{id}</Code>}
              active={id === domain.id}
              {...(id === domain.id && { 'aria-current': 'true' as const })}
            />
          ))}
        </nav>
        {found.length > MOST_SHOWN && (
          <Text c="dimmed">
            {t('{count, number} more: type part of the name', { count: found.length - MOST_SHOWN })}
          </Text>
        )}
        {data && branches.length === 1 && (
          <Text c="dimmed">{t('There are no others yet. Add a branch under Settings.')}</Text>
        )}
      </Stack>
    </Modal>
  );
}

/** The fields of a new school or branch: `name`, `id` and `timeZone`. */
export function SchoolFields({ timeZone }: { readonly timeZone: string }) {
  const [name, setName] = useState('');
  const [id, setId] = useState<string>();
  return (
    <>
      <TextField
        name="name"
        label={t('Name of the school')}
        value={name}
        onChange={setName}
        maxLength={200}
        autoComplete="organization"
        required
        withAsterisk={false}
      />
      <TextField
        name="id"
        label={t('Short name')}
        description={t('For programs: letters, digits, “_”, “.” and “-”. It cannot be changed later.')}
        value={id ?? suggestId(name)}
        onChange={setId}
        maxLength={64}
        pattern="[A-Za-z0-9_.\-]+"
        title={t('Letters, digits, “_”, “.” and “-”')}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        withAsterisk={false}
      />
      <NativeSelect
        name="timeZone"
        label={t('Time zone')}
        data={[...new Set([timeZone, ...Intl.supportedValuesOf('timeZone')])].sort()}
        defaultValue={timeZone}
      />
    </>
  );
}

/** Derives an id from a name: `St. Mary’s School` becomes `st-marys-school`. */
function suggestId(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/[\p{M}'’]/gu, '');
  const words = plain.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join('-').slice(0, 64);
}
