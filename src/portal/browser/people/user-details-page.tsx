/** One user: rights, sessions, and the actions of an admin. */
import { Group, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { SessionsOfUser } from '../../../generated/portal/account/sessions';
import {
  PeopleAccount,
  type PeopleAccountQuery,
  PeopleAccounts,
  PeopleRights,
  type PeopleRightsQuery,
  SendPersonLink,
  type SendPersonLinkMutation,
  SetPersonActive,
  SetPersonRoles,
  TakeSecondFactorAway,
  UnlockPerson,
} from '../../../generated/portal/people/people';
import { SessionList } from '../account/session-list';
import { useChange, useOperation, useViewer } from '../gateway/use-gateway';
import { formats, say, t } from '../language/texts';
import { sayFieldName } from '../records/use-declared-collection';
import { ActionButton, ChangeButton, ConfirmDialog, notice, savedOver } from '../shell/confirm-dialog';
import { FactStrip } from '../shell/link-card';
import { ListTable } from '../shell/list-table';
import { PageTab, PageTabs } from '../shell/page-filter';
import { Answered, EmptyState, PageFrame } from '../shell/states';
import { TextButton, TextLink } from '../shell/text-button';
import { AccountStateTag, RolesInput, SentLinkDialog } from './people-page';

type Account = PeopleAccountQuery['account'];

export function UserDetailsPage() {
  const { person = '' } = useParams({ strict: false }) as { readonly person?: string };
  const answer = useOperation(PeopleAccount, { id: person });
  const { name, userName } = answer.data?.account ?? {};
  return (
    <PageFrame title={name || userName || t('User')} above={[{ label: t('People'), to: '/portal/people' }]}>
      <Answered of={answer}>
        {({ account }) => (
          <Stack>
            <FactStrip
              facts={[
                [t('State'), <AccountStateTag key="state" account={account} />],
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
            <PageTabs>
              <PageTab name="rights" label={t('Permissions')}>
                {account.isActive ? (
                  <RightsTable userId={account.id} />
                ) : (
                  <EmptyState icon="lock" title={t('A deactivated user may do nothing')} />
                )}
              </PageTab>
              <PageTab name="sessions" label={t('Sessions')}>
                <SessionList userId={account.id} />
              </PageTab>
            </PageTabs>
          </Stack>
        )}
      </Answered>
    </PageFrame>
  );
}

const OUTDATED = [PeopleAccount, PeopleAccounts, PeopleRights, SessionsOfUser] as const;

/** The actions of an admin on a user. Each explains its effect and needs confirmation. */
function PersonActions({ account }: { readonly account: Account }) {
  const [asked, setAsked] = useState<{ readonly what: 'roles' | 'active'; readonly begun: Account }>();
  const [link, setLink] = useState<SendPersonLinkMutation['sendAccountLink']>();
  const { id: userId, userName, isActive } = account;
  const nameOfLink = account.hasPassword ? t('Reset password') : t('Invite again');
  return (
    <Stack align="flex-start">
      <Group gap="xs">
        <TextButton label={t('Change roles')} onClick={() => setAsked({ what: 'roles', begun: account })} />
        {isActive && (
          <ChangeButton
            title={nameOfLink}
            action={nameOfLink}
            change={SendPersonLink}
            variables={{ userId }}
            onDone={({ sendAccountLink }) => setLink(sendAccountLink)}
          >
            {t(
              '{userName} gets a link to set a new password. Earlier links stop working; the old password works until then.',
              { userName },
            )}
          </ChangeButton>
        )}
        {account.lockedUntil !== null && (
          <ActionButton
            label={t('Unlock')}
            title={t('Log-ins are stopped by wrong passwords. This allows them again.')}
            change={UnlockPerson}
            variables={{ userId }}
            outdated={OUTDATED}
            done={() => t('{userName} can log in again.', { userName })}
          />
        )}
        {account.hasSecondFactor && (
          <ChangeButton
            label={t('Take the second factor away')}
            title={t('Take the second factor away')}
            action={t('Take it away')}
            isDangerous
            change={TakeSecondFactorAway}
            variables={{ userId }}
            outdated={OUTDATED}
            onDone={() => notice(t('Saved.'))}
          >
            {t('{userName} needs only the password to log in until a new second factor is switched on.', {
              userName,
            })}{' '}
            {t('Use it only for a user who lost the phone and the recovery codes. Check who requests it.')}
          </ChangeButton>
        )}
        <TextButton
          label={isActive ? t('Deactivate') : t('Reactivate')}
          onClick={() => setAsked({ what: 'active', begun: account })}
        />
      </Group>
      {link && <SentLinkDialog {...link} onClose={() => setLink(undefined)} />}
      {asked && <AccountDialog {...asked} now={account} onClose={() => setAsked(undefined)} />}
    </Stack>
  );
}

interface AccountDialogProps {
  readonly what: 'roles' | 'active';
  /** The account when the dialog was opened: its question stays, whatever somebody else does meanwhile. */
  readonly begun: Account;
  readonly now: Account;
  onClose(): void;
}

/** Changes the roles of a user, or whether they may log in, over the version that was shown. */
function AccountDialog({ what, begun, now, onClose }: AccountDialogProps) {
  const [roles, setRoles] = useState(begun.roles);
  const setUserRoles = useChange(SetPersonRoles, OUTDATED);
  const setUserActive = useChange(SetPersonActive, OUTDATED);
  const error = setUserRoles.error ?? setUserActive.error;
  const { over, theirs } = savedOver(begun, now, error);
  const { id: userId, userName, isActive } = begun;
  const common = { userId, ifVersion: over.version };
  const done = {
    onSuccess: () => {
      onClose();
      notice(t('Saved.'));
    },
  };
  const action = isActive ? t('Deactivate') : t('Reactivate');
  return (
    <ConfirmDialog
      title={what === 'roles' ? t('Change roles') : action}
      action={what === 'roles' ? t('Save') : action}
      isDangerous={what === 'active' && isActive}
      of={{ isPending: setUserRoles.isPending || setUserActive.isPending, error }}
      meanwhile={
        theirs && {
          changed: { collection: 'pltf_user', id: userId },
          theirs: [
            [t('Roles'), theirs.roles.join(', ')],
            [t('State'), theirs.isActive ? t('Active') : t('Deactivated')],
          ],
        }
      }
      onConfirm={() =>
        what === 'roles'
          ? setUserRoles.mutate({ ...common, roles: [...roles] }, done)
          : setUserActive.mutate({ ...common, isActive: !isActive }, done)
      }
      onClose={onClose}
    >
      {what === 'roles' && <RolesInput value={roles} onChange={setRoles} />}
      {what === 'roles' && t('The change applies at once, also to open sessions and API keys.')}
      {what === 'active' &&
        (isActive
          ? t('{userName} can no longer log in. Sessions and keys end. No records are removed.', { userName })
          : t('{userName} can log in again, with the same roles and password.', { userName }))}
    </ConfirmDialog>
  );
}

/** Links to the audit trail: changes of the user's own record, and changes that the user made. */
function AuditLinks({ userId }: { readonly userId: string }) {
  if (!useViewer().duties.includes('audit')) return null;
  const links = [
    [t('Changes to this user'), { collection: 'pltf_user', recordId: userId }],
    [t('Changes by this user'), { principal: userId }],
  ] as const;
  return (
    <Group gap="md" mih={36}>
      {links.map(([label, search]) => (
        <TextLink key={label} to="/portal/audit" search={search}>
          {label}
        </TextLink>
      ))}
    </Group>
  );
}

/** The rights of a user as the gateway decides them: each collection by verb, with its fields. */
function RightsTable({ userId }: { readonly userId: string }) {
  const inWords = (isAllowed: boolean, fields: readonly string[]) => {
    if (!isAllowed) return t('No');
    if (fields.length === 0) return t('Yes');
    return (
      <details>
        <summary>{t('{count, plural, one {# field} other {# fields}}', { count: fields.length })}</summary>
        <Text size="xs" className="wrapped">
          {fields.map(sayFieldName).join(', ')}
        </Text>
      </details>
    );
  };
  return (
    <Answered of={useOperation(PeopleRights, { userId })}>
      {({ userRights }) =>
        userRights.collections.length > 0 ? (
          <ListTable<PeopleRightsQuery['userRights']['collections'][number]>
            label={t('Permissions')}
            verticalSpacing="xs"
            rows={userRights.collections}
            columns={[
              [
                t('Collection'),
                ({ title, isLimitedToRows }) => (
                  <>
                    <strong>{say(title)}</strong>
                    {isLimitedToRows && (
                      <Text size="xs" c="dimmed">
                        {t('only some records')}
                      </Text>
                    )}
                  </>
                ),
                'row-head',
              ],
              [t('Read'), ({ canRead, readableFields }) => inWords(canRead, readableFields)],
              [t('Create'), ({ canCreate, creatableFields }) => inWords(canCreate, creatableFields)],
              [t('Change'), ({ canUpdate, updatableFields }) => inWords(canUpdate, updatableFields)],
              [t('Remove'), ({ canRemove }) => inWords(canRemove, [])],
            ]}
          />
        ) : (
          <EmptyState icon="lock" title={t('No access to records')} />
        )
      }
    </Answered>
  );
}
