import { Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { t } from '../language/texts';
import { TextButton } from '../shell/text-button';
import { RefusalNotice, wordsOfRefusal } from './entrance-card';

export interface CodeStepProps {
  /** Logs in with the code. An error is shown here. */
  onCode(code: string): Promise<void>;
  onBack(): void;
}

/** The second step of a log-in: the code from the application on the phone, or a recovery code. */
export function CodeStep({ onCode, onBack }: CodeStepProps) {
  const [isRecovering, setRecovering] = useState(false);
  const [refusal, setRefusal] = useState('');
  const [isBusy, setIsBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the other kind has another field.
  useEffect(() => input.current?.focus(), [isRecovering]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get('code') ?? '').trim();
    setIsBusy(true);
    setRefusal('');
    try {
      await onCode(code);
    } catch (error) {
      setRefusal(wordsOfRefusal(error));
      input.current?.select();
    } finally {
      setIsBusy(false);
    }
  }

  function switchKind() {
    setRefusal('');
    setRecovering(!isRecovering);
  }

  const shared = {
    ref: input,
    name: 'code',
    required: true,
    withAsterisk: false,
    spellCheck: false,
    'aria-invalid': refusal !== '',
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {isRecovering ? (
          <TextInput
            key="recovery"
            {...shared}
            label={t('Recovery code')}
            description={t('One of the codes you saved when you turned it on. Each one works once.')}
            autoComplete="off"
            autoCapitalize="characters"
            maxLength={40}
          />
        ) : (
          <TextInput
            key="digits"
            {...shared}
            label={t('Authentication code')}
            description={t('The six digits that the app on your phone shows now.')}
            autoComplete="one-time-code"
            inputMode="numeric"
            pattern="(\s*\p{Nd}){6}\s*"
            title={t('Six digits')}
            maxLength={20}
          />
        )}
        <RefusalNotice>{refusal}</RefusalNotice>
        <TextButton label={t('Log in')} isMain type="submit" loading={isBusy} fullWidth />
        <Stack gap="xs" align="flex-start">
          <TextButton
            label={isRecovering ? t('Use the code from the app') : t('Use a recovery code')}
            variant="subtle"
            size="compact-sm"
            onClick={switchKind}
          />
          <TextButton label={t('Back to the log-in')} variant="subtle" size="compact-sm" onClick={onBack} />
        </Stack>
        {isRecovering && (
          <Text size="xs" c="dimmed">
            {t('No codes left? Ask your administrator to reset two-factor authentication.')}
          </Text>
        )}
      </Stack>
    </form>
  );
}
