import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { SessionsOfUser } from '../../../generated/portal/account/sessions';
import {
  PeopleAccount,
  type PeopleAccountQuery,
  PeopleAccounts,
  PeopleRights,
  SendPersonLink,
  SetPersonActive,
  SetPersonRoles,
  TakeSecondFactorAway,
} from '../../../generated/portal/people/people';
import { useChange } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { ChangedMeanwhile, ConfirmDialog, savedOver, useNotice } from '../shell/confirm-dialog';
import { RolesInput, SentLinkNotice } from './invite-dialog';

export interface PersonActionsProps {
  readonly account: NonNullable<PeopleAccountQuery['account']>;
}

const OUTDATED = [PeopleAccount, PeopleAccounts, PeopleRights, SessionsOfUser] as const;

/** The actions of an admin on a user. Each asks for confirmation and explains its effect. */
export function PersonActions({ account }: PersonActionsProps) {
  const t = useTexts();
  const notice = useNotice();
  const [asked, setAsked] = useState<'roles' | 'active' | 'link' | 'factor'>();
  const [roles, setRoles] = useState<readonly string[]>([]);
  const [begun, setBegun] = useState(account);
  const setUserRoles = useChange(SetPersonRoles, OUTDATED);
  const setUserActive = useChange(SetPersonActive, OUTDATED);
  const sendLink = useChange(SendPersonLink);
  const takeFactor = useChange(TakeSecondFactorAway, OUTDATED);
  const { over, theirs } = savedOver(begun, account, setUserRoles.error ?? setUserActive.error);
  const ifVersion = over.version;
  const close = () => setAsked(undefined);
  const done = {
    onSuccess: () => {
      close();
      notice(t('Saved.'));
    },
  };
  const ask = (what: NonNullable<typeof asked>) => {
    for (const change of [setUserRoles, setUserActive, sendLink, takeFactor]) change.reset();
    setRoles(account.roles);
    setBegun(account);
    setAsked(what);
  };
  const { id: userId, userName, isActive } = account;
  const changed = { collection: 'pltf_user', id: userId };
  // The question stays the same if somebody else performs the action in the meantime.
  const wasActive = begun.isActive;
  const nameOfLink = account.hasPassword ? t('Reset password') : t('Invite again');
  return (
    <Stack align="flex-start">
      <Group gap="xs">
        <Button variant="default" onClick={() => ask('roles')}>
          {t('Change roles')}
        </Button>
        {isActive && (
          <Button variant="default" onClick={() => ask('link')}>
            {nameOfLink}
          </Button>
        )}
        {account.hasSecondFactor && (
          <Button variant="default" onClick={() => ask('factor')}>
            {t('Take the second factor away')}
          </Button>
        )}
        <Button variant="default" onClick={() => ask('active')}>
          {isActive ? t('Deactivate') : t('Reactivate')}
        </Button>
      </Group>
      {sendLink.data && <SentLinkNotice {...sendLink.data.sendAccountLink} />}
      {asked === 'roles' && (
        <ConfirmDialog
          title={t('Change roles')}
          action={t('Save')}
          isBusy={setUserRoles.isPending}
          problem={theirs ? null : setUserRoles.error}
          onConfirm={() => setUserRoles.mutate({ userId, roles: [...roles], ifVersion }, done)}
          onClose={close}
        >
          <RolesInput value={roles} onChange={setRoles} />
          {t('The change applies at once, also to open sessions and API keys.')}
          {theirs && <ChangedMeanwhile changed={changed} theirs={[[t('Roles'), theirs.roles.join(', ')]]} />}
        </ConfirmDialog>
      )}
      {asked === 'active' && (
        <ConfirmDialog
          title={wasActive ? t('Deactivate') : t('Reactivate')}
          action={wasActive ? t('Deactivate') : t('Reactivate')}
          isDangerous={wasActive}
          isBusy={setUserActive.isPending}
          problem={theirs ? null : setUserActive.error}
          onConfirm={() => setUserActive.mutate({ userId, isActive: !wasActive, ifVersion }, done)}
          onClose={close}
        >
          {theirs && (
            <ChangedMeanwhile
              changed={changed}
              theirs={[
                [t('Roles'), theirs.roles.join(', ')],
                [t('State'), theirs.isActive ? t('Active') : t('Deactivated')],
              ]}
            />
          )}
          {wasActive
            ? t('{userName} can no longer log in. Sessions and keys end. No records are removed.', {
                userName,
              })
            : t('{userName} can log in again, with the same roles and password.', { userName })}
        </ConfirmDialog>
      )}
      {asked === 'link' && (
        <ConfirmDialog
          title={nameOfLink}
          action={nameOfLink}
          isBusy={sendLink.isPending}
          problem={sendLink.error}
          onConfirm={() => sendLink.mutate({ userId }, { onSuccess: close })}
          onClose={close}
        >
          {t(
            '{userName} gets a link to set a new password. Earlier links stop working; the old password works until then.',
            {
              userName,
            },
          )}
        </ConfirmDialog>
      )}
      {asked === 'factor' && (
        <ConfirmDialog
          title={t('Take the second factor away')}
          action={t('Take it away')}
          isDangerous
          isBusy={takeFactor.isPending}
          problem={takeFactor.error}
          onConfirm={() => takeFactor.mutate({ userId }, done)}
          onClose={close}
        >
          {t('{userName} logs in by the password alone until a new second factor is switched on.', {
            userName,
          })}{' '}
          {t('It is for who has lost the phone and the recovery codes: be sure who asks for it.')}
        </ConfirmDialog>
      )}
    </Stack>
  );
}
