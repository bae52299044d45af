/** One user: rights, sessions, and the actions of an admin. */
import { Anchor, Group, Stack, Tabs } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { PeopleAccount } from '../../../generated/portal/people/people';
import { SessionList } from '../account/session-list';
import { useOperation, useViewer } from '../gateway/use-gateway';
import { useFormats, useTexts } from '../language/use-texts';
import { FactStrip } from '../shell/link-card';
import { useAddress } from '../shell/page-filter';
import { EmptyState, LoadingState, PageFrame, ProblemState } from '../shell/states';
import { PersonActions } from './person-actions';
import { RightsTable } from './rights-table';
import { StateBadge } from './state-badge';

export function UserDetailsPage() {
  const t = useTexts();
  const formats = useFormats();
  const { person = '' } = useParams({ strict: false }) as { readonly person?: string };
  const [{ tab }, change] = useAddress({ tab: 'rights' });
  const { data, error, refetch } = useOperation(PeopleAccount, { id: person });
  const account = data?.account;
  return (
    <PageFrame
      title={account ? account.name || account.userName : t('User')}
      above={[{ label: t('People'), to: '/portal/people' }]}
    >
      {error && <ProblemState problem={error} retry={() => void refetch()} />}
      {!data && !error && <LoadingState />}
      {data && !account && <EmptyState icon="users" title={t('There is no such user')} />}
      {account && (
        <Stack>
          <FactStrip
            facts={[
              [t('State'), <StateBadge key="state" account={account} />],
              [t('User name'), account.userName],
              [t('Email'), account.email],
              [t('Roles'), account.roles.join(', ')],
              [t('Last login'), account.lastLoginAt && formats.instant(account.lastLoginAt)],
            ]}
          />
          <Group justify="space-between" align="flex-start">
            <PersonActions account={account} />
            <AuditLinks userId={account.id} />
          </Group>
          <Tabs value={tab} onChange={(next) => change({ tab: next ?? 'rights' })} keepMounted={false}>
            <Tabs.List>
              <Tabs.Tab value="rights">{t('Permissions')}</Tabs.Tab>
              <Tabs.Tab value="sessions">{t('Sessions')}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="rights" pt="sm">
              {account.isActive ? (
                <RightsTable userId={account.id} />
              ) : (
                <EmptyState icon="lock" title={t('A deactivated user may do nothing')} />
              )}
            </Tabs.Panel>
            <Tabs.Panel value="sessions" pt="sm">
              <SessionList userId={account.id} />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      )}
    </PageFrame>
  );
}

/** Links to the audit trail: changes of the user's own record, and changes that the user made. */
function AuditLinks({ userId }: { readonly userId: string }) {
  const t = useTexts();
  const { duties } = useViewer();
  if (!duties.includes('audit')) return null;
  return (
    <Group gap="md" mih={36}>
      <Anchor
        component={Link}
        to="/portal/audit"
        search={{ collection: 'pltf_user', recordId: userId } as never}
        size="sm"
      >
        {t('Changes to this user')}
      </Anchor>
      <Anchor component={Link} to="/portal/audit" search={{ principal: userId } as never} size="sm">
        {t('Changes by this user')}
      </Anchor>
    </Group>
  );
}
