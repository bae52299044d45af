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

type Step =
  | { readonly kind: 'asking' }
  | { readonly kind: 'open'; readonly account: Account }
  /** The link was used, has expired, was replaced, or never existed. */
  | { readonly kind: 'over' }
  | { readonly kind: 'unknown'; readonly words: string }
  /** The password is set, but its user could not be logged in on this page. */
  | { readonly kind: 'set' };

/** The page of the link of an invitation or a password reset. */
export function WelcomePage({ token }: { readonly token: string }) {
  const { data, error: problem } = useOpenOperation(LinkedAccount, { token });
  const [later, setStep] = useState<Step>();
  const step = later ?? stepOf(data, problem);
  const school = step.kind === 'open' ? step.account.domainName : undefined;
  return (
    <EntranceCard title={t('Your account')} subtitle={school ?? t('All of a school’s records, in one place')}>
      {step.kind === 'open' && <PasswordForm token={token} account={step.account} onStep={setStep} />}
      {step.kind === 'over' && (
        <OverNotice>
          {t('It was used, has expired, or a newer one was sent. Ask your administrator for another link.')}
        </OverNotice>
      )}
      {step.kind === 'unknown' && (
        <Alert color="red" variant="light">
          <ProblemWords text={step.words} />
        </Alert>
      )}
      {step.kind === 'set' && <Text>{t('The new password is set. Log in with it now.')}</Text>}
      {(step.kind === 'unknown' || step.kind === 'set') && (
        <Anchor href="/" size="md">
          {t('To the log-in')}
        </Anchor>
      )}
    </EntranceCard>
  );
}

function stepOf(data: LinkedAccountQuery | undefined, problem: Error | null): Step {
  if (problem) return stepAfter(problem);
  return data ? { kind: 'open', account: data.accountLink } : { kind: 'asking' };
}

function stepAfter(problem: Error): Step {
  if (codeOf(problem) === 'NOT_FOUND') return { kind: 'over' };
  return { kind: 'unknown', words: problem.message };
}

interface PasswordFormProps {
  readonly token: string;
  readonly account: Account;
  onStep(step: Step): void;
}

function PasswordForm({ token, account, onStep }: PasswordFormProps) {
  const gateway = useGateway();
  const session = useSession();
  async function send({ password = '' }: EntranceTexts) {
    try {
      await gateway.executeOpenly(SetLinkedPassword, { token, password });
    } catch (error) {
      const next = stepAfter(error as Error);
      if (next.kind === 'unknown') throw error;
      return onStep(next);
    }
    try {
      await session.logIn({ userName: account.userName, password, domain: account.domainId });
      location.replace('/');
    } catch {
      // A user with a second factor enters its code at the log-in. Another user who was logged in with this
      // browser is logged out.
      await session.logOutHere();
      onStep({ kind: 'set' });
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
