/** The users of the school, with a search, and a button to invite another one. */
import { Group, Modal, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import {
  InvitePerson,
  PeopleAccounts,
  type PeopleAccountsQuery,
} from '../../../generated/portal/people/people';
import { useChange, useListedPages } from '../gateway/use-gateway';
import { formats, t } from '../language/texts';
import { DialogButton, FormDialog, SecretDialog } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { ListTable, MoreButton } from '../shell/list-table';
import { FindInput, useAddress } from '../shell/page-filter';
import { SharedWithInput, type SharedWithInputProps } from '../shell/shared-with-input';
import { Answered, EmptyState, PageFrame } from '../shell/states';
import { TextLink } from '../shell/text-button';
import { ChoiceField } from '../shell/text-field';

type ListedAccount = PeopleAccountsQuery['accounts']['nodes'][number];

const PAGE_SIZE = 50;

export function PeoplePage() {
  const [{ find, state }, change, field] = useAddress({ find: '', state: '' });
  const accounts = useListedPages(
    PeopleAccounts,
    (after) => ({
      ...{ first: PAGE_SIZE, after },
      ...(find !== '' && { search: find }),
      ...(state !== '' && { isActive: state === 'active' }),
    }),
    (result) => result.accounts,
  );
  return (
    <PageFrame
      title={t('People')}
      description={t('Who can log in, and what they may do')}
      actions={
        <DialogButton
          label={t('Invite a user')}
          isMain
          dialog={(close) => <InviteDialog onClose={close} />}
        />
      }
    >
      <Stack>
        <Group>
          <FindInput label={t('Find a user')} {...field('find')} />
          <ChoiceField
            aria-label={t('State')}
            value={state}
            onChange={(next) => change({ state: next })}
            data={[
              { value: '', label: t('All states') },
              { value: 'active', label: t('Active') },
              { value: 'inactive', label: t('Deactivated') },
            ]}
          />
        </Group>
        <Answered of={accounts} empty={<EmptyState icon="users" title={t('No users match')} />}>
          {(rows) => (
            <ListTable<ListedAccount>
              label={t('People')}
              rows={rows}
              columns={[
                [
                  t('Name'),
                  ({ id, name, userName }) => (
                    <TextLink to={`/portal/people/${id}`} fw={600}>
                      {name || userName}
                    </TextLink>
                  ),
                ],
                [t('User name'), ({ userName }) => userName],
                [t('Roles'), ({ roles }) => roles.join(', ')],
                [t('State'), (account) => <AccountStateTag account={account} />],
                [
                  t('Last login'),
                  ({ lastLoginAt }) => (lastLoginAt === null ? '–' : formats.instant(lastLoginAt)),
                ],
              ]}
            />
          )}
        </Answered>
        <MoreButton more={accounts.more}>{t('Load more')}</MoreButton>
      </Stack>
    </PageFrame>
  );
}

/** Whether a user may log in. An invited user may not until they choose a password. */
export function AccountStateTag({
  account: { isActive, hasPassword, lockedUntil },
}: {
  readonly account: Pick<ListedAccount, 'isActive' | 'hasPassword' | 'lockedUntil'>;
}) {
  if (!isActive) return <StateTag>{t('Deactivated')}</StateTag>;
  if (lockedUntil !== null)
    return (
      <StateTag state="locked">{t('Locked until {time}', { time: formats.instant(lockedUntil) })}</StateTag>
    );
  return (
    <StateTag state={hasPassword ? 'active' : 'invited'}>{hasPassword ? t('Active') : t('Invited')}</StateTag>
  );
}

/** Adds a user, and shows the link to pass on if it was not mailed. */
function InviteDialog({ onClose }: { onClose(): void }) {
  const [roles, setRoles] = useState<readonly string[]>([]);
  const invite = useChange(InvitePerson, [PeopleAccounts]);
  if (invite.data) return <SentLinkDialog {...invite.data.inviteUser} onClose={onClose} />;
  return (
    <FormDialog
      title={t('Invite a user')}
      onClose={onClose}
      action={t('Invite')}
      of={invite}
      isReady={roles.length > 0}
      onSubmit={({ userName = '', name = '', email }) =>
        invite.mutate({ data: { userName, name, roles: [...roles], ...(email && { email }) } })
      }
    >
      <TextInput label={t('User name')} required name="userName" />
      <TextInput label={t('Name')} required name="name" />
      <RolesInput value={roles} onChange={setRoles} />
      <TextInput
        label={t('Email address')}
        description={t('The link is sent there if the school has a mail server')}
        type="email"
        name="email"
      />
    </FormDialog>
  );
}

/** Selects existing roles. A new role can be typed. */
export function RolesInput(roles: Pick<SharedWithInputProps, 'value' | 'onChange'>) {
  const description = t('Choose one or more, or type a new one and press Enter');
  return <SharedWithInput label={t('Roles')} description={description} {...roles} />;
}

export interface SentLinkDialogProps {
  /** `null` if the gateway has mailed it. */
  readonly link: string | null;
  readonly expiresAt: string;
  onClose(): void;
}

/** Reports that a link for setting a password was mailed, or shows the link to pass on. */
export function SentLinkDialog({ link, expiresAt, onClose }: SentLinkDialogProps) {
  const until = t('It works once, until {time}.', { time: formats.instant(expiresAt) });
  if (link === null)
    return (
      <Modal opened onClose={onClose} title={t('Link sent by email')}>
        {until}
      </Modal>
    );
  return (
    <SecretDialog
      title={t('Link to set a password')}
      label={t('Link')}
      words={`${t('Give them this link. It will not be shown again.')} ${until}`}
      secret={new URL(link, window.location.origin).href}
      onClose={onClose}
    />
  );
}
