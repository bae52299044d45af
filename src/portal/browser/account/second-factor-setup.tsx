/**
 * Switches the second factor on: a code to scan, a code to type, and the recovery codes, which are shown
 * once.
 */
import { Button, Code, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect } from 'react';
import {
  BeginOwnSecondFactor,
  ConfirmOwnSecondFactor,
} from '../../../generated/portal/account/second-factor';
import { useChange } from '../gateway/use-operation';
import { useTexts } from '../language/use-texts';
import { LoadingState, ProblemState } from '../shell/states';
import { QrCode } from './qr-code';
import { RecoveryCodes } from './recovery-codes';

export interface SecondFactorSetupProps {
  /** Called when it is on and the user has seen the recovery codes. */
  onDone(): void;
}

export function SecondFactorSetup({ onDone }: SecondFactorSetupProps) {
  const { mutate: begin, data, error } = useChange(BeginOwnSecondFactor);
  const confirm = useChange(ConfirmOwnSecondFactor);
  useEffect(() => begin({}), [begin]);
  if (confirm.data) return <RecoveryCodes codes={confirm.data.confirmSecondFactor} onDone={onDone} />;
  if (error) return <ProblemState problem={error} retry={() => begin({})} />;
  if (!data) return <LoadingState />;
  return (
    <SetupForm
      {...data.beginSecondFactor}
      isBusy={confirm.isPending}
      problem={confirm.error}
      onCode={(code) => confirm.mutate({ code })}
    />
  );
}

interface SetupFormProps {
  readonly secret: string;
  readonly uri: string;
  readonly isBusy: boolean;
  readonly problem: Error | null;
  onCode(code: string): void;
}

function SetupForm({ secret, uri, isBusy, problem, onCode }: SetupFormProps) {
  const t = useTexts();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onCode(String(new FormData(event.currentTarget).get('code') ?? ''));
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Text size="sm">
          {t('1. Scan this with an authenticator app, such as Aegis or Google Authenticator.')}
        </Text>
        <QrCode text={uri} label={t('QR code of the secret below')} />
        <Text size="sm" component="div">
          {t('Can’t scan it? Enter this secret in the app:')}{' '}
          <Code className="wrapped">{inGroups(secret)}</Code>
        </Text>
        <TextInput
          name="code"
          label={t('2. Enter the six digits it shows')}
          autoComplete="one-time-code"
          inputMode="numeric"
          pattern="(\s*\p{Nd}){6}\s*"
          title={t('Six digits')}
          maxLength={20}
          required
          withAsterisk={false}
        />
        {problem && <ProblemState problem={problem} />}
        <Button type="submit" loading={isBusy}>
          {t('Turn it on')}
        </Button>
      </Stack>
    </form>
  );
}

/** In groups, for reading out and typing. */
function inGroups(secret: string): string {
  return secret.replaceAll(/.{4}(?=.)/g, '$& ');
}
