/** The users of the school, with a search, and a button to invite another one. */
import { Anchor, Button, Group, NativeSelect, Stack, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { PeopleAccounts, type PeopleAccountsQuery } from '../../../generated/portal/people/people';
import { useGateway } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { FindInput, useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { InviteDialog } from './invite-dialog';
import { StateBadge } from './state-badge';

type ListedAccount = PeopleAccountsQuery['accounts']['nodes'][number];

const PAGE_SIZE = 50;

export function PeoplePage() {
  const t = useTexts();
  const [isInviting, setInviting] = useState(false);
  const [{ find, state }, change] = useAddress({ find: '', state: '' });
  return (
    <PageFrame
      title={t('People')}
      description={t('Who can log in, and what they may do')}
      actions={<Button onClick={() => setInviting(true)}>{t('Invite a user')}</Button>}
    >
      <Stack>
        <Group>
          <FindInput
            label={t('Find a user')}
            value={find}
            onFind={(text) => change({ find: text }, 'replace')}
          />
          <NativeSelect
            aria-label={t('State')}
            value={state}
            onChange={(event) => change({ state: event.currentTarget.value })}
            data={[
              { value: '', label: t('All states') },
              { value: 'active', label: t('Active') },
              { value: 'inactive', label: t('Deactivated') },
            ]}
          />
        </Group>
        <FoundAccounts find={find} state={state} />
      </Stack>
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
    </PageFrame>
  );
}

function FoundAccounts({ find, state }: { readonly find: string; readonly state: string }) {
  const t = useTexts();
  const gateway = useGateway();
  const asked = {
    first: PAGE_SIZE,
    ...(find !== '' && { search: find }),
    ...(state !== '' && { isActive: state === 'active' }),
  };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [PeopleAccounts.name, asked],
    queryFn: ({ pageParam, signal }) =>
      gateway.execute(PeopleAccounts, { ...asked, after: pageParam }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ accounts: { pageInfo } }) => (pageInfo.hasNextPage ? pageInfo.endCursor : undefined),
  });
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState />;
  const accounts = data.pages.flatMap((page) => page.accounts.nodes);
  if (accounts.length === 0) return <EmptyState icon="users" title={t('No users match')} />;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is to be reached by the keyboard. */}
      <section className="table-scroll" tabIndex={0} aria-label={t('People')}>
        <Table className="stacked-table" aria-label={t('People')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Name')}</Table.Th>
              <Table.Th>{t('User name')}</Table.Th>
              <Table.Th>{t('Roles')}</Table.Th>
              <Table.Th>{t('State')}</Table.Th>
              <Table.Th>{t('Last login')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {accounts.map((account) => (
              <AccountRow key={account.id} account={account} />
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('Load more')}
        </Button>
      )}
    </>
  );
}

function AccountRow({ account }: { readonly account: ListedAccount }) {
  const t = useTexts();
  const { instant } = useFormats();
  const { id, name, userName, roles, lastLoginAt } = account;
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} to={`/portal/people/${id}`} size="sm" fw={600}>
          {name || userName}
        </Anchor>
      </Table.Td>
      <Table.Td data-label={t('User name')}>{userName}</Table.Td>
      <Table.Td data-label={t('Roles')}>{roles.join(', ')}</Table.Td>
      <Table.Td data-label={t('State')}>
        <StateBadge account={account} />
      </Table.Td>
      <Table.Td data-label={t('Last login')}>{lastLoginAt === null ? '–' : instant(lastLoginAt)}</Table.Td>
    </Table.Tr>
  );
}
