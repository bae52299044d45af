/**
 * Switches the second factor on: a code to scan, a code to type, and the recovery codes, which are shown
 * once.
 */
import { Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import {
  BeginOwnSecondFactor,
  ConfirmOwnSecondFactor,
  OwnSecondFactor,
  RemoveOwnSecondFactor,
  RenewOwnRecoveryCodes,
} from '../../../generated/portal/account/second-factor';
import { useChange, useOperation } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { useNotice } from '../shell/confirm-dialog';
import { StateTag } from '../shell/icon';
import { LoadingState, ProblemState } from '../shell/states';
import { QrCode, RecoveryCodes } from './recovery-codes';

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

export function SecondFactorSection() {
  const t = useTexts();
  const notice = useNotice();
  const [asked, setAsked] = useState<'on' | 'off' | 'codes'>();
  const { data, error, refetch } = useOperation(OwnSecondFactor, {});
  if (error) return <ProblemState problem={error} retry={() => void refetch()} />;
  if (!data) return <LoadingState rows={2} />;
  const { isOn, isRequired, recoveryCodesLeft } = data.secondFactor;
  const close = () => {
    setAsked(undefined);
    void refetch();
  };
  const titles = {
    on: t('Turn on two-factor authentication'),
    off: t('Turn off two-factor authentication'),
    codes: t('New recovery codes'),
  };
  return (
    <Stack align="flex-start" gap="sm">
      <Group gap="xs">
        <StateTag state={isOn ? 'on' : 'off'}>{isOn ? t('On') : t('Off')}</StateTag>
        {isOn && (
          <Text size="sm">
            {t('{count, plural, one {# recovery code is} other {# recovery codes are}} left.', {
              count: recoveryCodesLeft,
            })}
          </Text>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {isRequired
          ? t('Your role requires two-factor authentication: your password and a code from your phone.')
          : t('Logging in then needs your password and a code from your phone.')}
      </Text>
      <Group gap="xs">
        {!isOn && <Button onClick={() => setAsked('on')}>{t('Turn on')}</Button>}
        {isOn && (
          <Button variant="default" onClick={() => setAsked('codes')}>
            {t('New recovery codes')}
          </Button>
        )}
        {isOn && !isRequired && (
          <Button variant="default" onClick={() => setAsked('off')}>
            {t('Turn off')}
          </Button>
        )}
      </Group>
      {asked && (
        <Modal
          opened
          onClose={close}
          title={titles[asked]}
          closeOnClickOutside={false}
          closeButtonProps={{ 'aria-label': t('Close') }}
        >
          {asked === 'on' && <SecondFactorSetup onDone={close} />}
          {asked === 'codes' && <NewRecoveryCodes onDone={close} />}
          {asked === 'off' && (
            <Removal
              onDone={() => {
                close();
                notice(t('Two-factor authentication is off.'));
              }}
            />
          )}
        </Modal>
      )}
    </Stack>
  );
}

function Removal({ onDone }: { onDone(): void }) {
  const t = useTexts();
  const { mutate, isPending, error } = useChange(RemoveOwnSecondFactor);
  return (
    <CodeForm
      action={t('Turn off')}
      isBusy={isPending}
      problem={error}
      onCode={(code) => mutate({ code }, { onSuccess: onDone })}
    />
  );
}

function NewRecoveryCodes({ onDone }: { onDone(): void }) {
  const t = useTexts();
  const { mutate, isPending, error, data } = useChange(RenewOwnRecoveryCodes);
  if (data) return <RecoveryCodes codes={data.renewRecoveryCodes} onDone={onDone} />;
  return (
    <CodeForm
      action={t('Get new codes')}
      isBusy={isPending}
      problem={error}
      onCode={(code) => mutate({ code })}
    />
  );
}

interface CodeFormProps {
  readonly action: string;
  readonly isBusy: boolean;
  readonly problem: Error | null;
  onCode(code: string): void;
}

function CodeForm({ action, isBusy, problem, onCode }: CodeFormProps) {
  const t = useTexts();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onCode(String(new FormData(event.currentTarget).get('code') ?? ''));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          name="code"
          label={t('Authentication code')}
          description={t('Six digits, or a recovery code')}
          autoComplete="one-time-code"
          spellCheck={false}
          maxLength={40}
          required
          withAsterisk={false}
          data-autofocus
        />
        {problem && <ProblemState problem={problem} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
