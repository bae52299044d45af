import { Alert, Anchor, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import {
  LinkedAccount,
  type LinkedAccountQuery,
  SetLinkedPassword,
} from '../../../generated/portal/entrance/welcome';
import { useGateway, useOpenOperation, useSession } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { t } from '../language/texts';
import { codeOf } from '../session/gateway-problem';
import {
  EntranceCard,
  EntranceForm,
  type EntranceTexts,
  NewPasswordFields,
  OverNotice,
} from './entrance-card';

type Account = LinkedAccountQuery['accountLink'];

/** `over`: the link was used, has expired or was replaced. `set`: the log-in with the new password failed. */
type Outcome = 'over' | 'set';

/** The page of the link of an invitation or a password reset. */
export function WelcomePage({ token }: { readonly token: string }) {
  const { data, error } = useOpenOperation(LinkedAccount, { token });
  const [later, setLater] = useState<Outcome>();
  const outcome = later ?? (codeOf(error) === 'NOT_FOUND' ? 'over' : undefined);
  const account = outcome === undefined ? data?.accountLink : undefined;
  const problem = outcome === undefined && error;
  const school = account?.domainName ?? t('All of a school’s records, in one place');
  return (
    <EntranceCard title={t('Your account')} subtitle={school}>
      {account && <PasswordForm {...{ token, account }} onOutcome={setLater} />}
      {outcome === 'over' && (
        <OverNotice>
          {t('It was used, has expired, or a newer one was sent. Ask your administrator for another link.')}
        </OverNotice>
      )}
      {problem && (
        <Alert color="red" variant="light">
          <ProblemWords text={problem.message} />
        </Alert>
      )}
      {outcome === 'set' && <Text>{t('The new password is set. Log in with it now.')}</Text>}
      {(problem || outcome === 'set') && (
        <Anchor href="/" size="md">
          {t('To the log-in')}
        </Anchor>
      )}
    </EntranceCard>
  );
}

interface PasswordFormProps {
  readonly token: string;
  readonly account: Account;
  onOutcome(outcome: Outcome): void;
}

function PasswordForm({ token, account, onOutcome }: PasswordFormProps) {
  const gateway = useGateway();
  const session = useSession();
  async function send({ password = '' }: EntranceTexts) {
    try {
      await gateway.executeOpenly(SetLinkedPassword, { token, password });
    } catch (error) {
      if (codeOf(error) !== 'NOT_FOUND') throw error;
      return onOutcome('over');
    }
    try {
      await session.logIn({ userName: account.userName, password, domain: account.domainId });
      location.replace('/');
    } catch {
      // A user with a second factor enters its code at the log-in. Another user who was logged in with this
      // browser is logged out.
      await session.logOutHere();
      onOutcome('set');
    }
  }

  return (
    <EntranceForm action={t('Set the password and log in')} send={send}>
      <div>
        <Title size="h5">{t('Welcome, {name}', { name: account.name })}</Title>
        <Text c="dimmed">
          {account.purpose === 'invite'
            ? t('An account was made for you. Choose its password.')
            : t('Choose a new password. You are logged out everywhere else.')}
        </Text>
      </div>
      <TextInput label={t('User name')} defaultValue={account.userName} autoComplete="username" readOnly />
      <NewPasswordFields />
    </EntranceForm>
  );
}
