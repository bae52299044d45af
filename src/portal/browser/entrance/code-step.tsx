import { Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { t } from '../language/texts';
import { TextButton } from '../shell/text-button';
import { EntranceForm } from './entrance-card';

export interface CodeStepProps {
  /** Logs in with the code. An error is shown here. */
  onCode(code: string): Promise<void>;
  onBack(): void;
}

/** The second step of a log-in: the code from the application on the phone, or a recovery code. */
export function CodeStep({ onCode, onBack }: CodeStepProps) {
  const [isRecovering, setRecovering] = useState(false);
  const shared = { name: 'code', required: true, withAsterisk: false, spellCheck: false, autoFocus: true };
  return (
    <EntranceForm
      key={isRecovering ? 'recovery' : 'digits'}
      action={t('Log in')}
      send={({ code = '' }) => onCode(code)}
      below={
        <Stack gap="xs" align="flex-start">
          <TextButton
            label={isRecovering ? t('Use the code from the app') : t('Use a recovery code')}
            variant="subtle"
            size="compact-sm"
            onClick={() => setRecovering(!isRecovering)}
          />
          <TextButton label={t('Back to the log-in')} variant="subtle" size="compact-sm" onClick={onBack} />
          {isRecovering && (
            <Text size="xs" c="dimmed">
              {t('No codes left? Ask your administrator to reset two-factor authentication.')}
            </Text>
          )}
        </Stack>
      }
    >
      {isRecovering ? (
        <TextInput
          {...shared}
          label={t('Recovery code')}
          description={t('One of the codes you saved when you turned it on. Each one works once.')}
          autoComplete="off"
          autoCapitalize="characters"
          maxLength={40}
        />
      ) : (
        <TextInput
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
    </EntranceForm>
  );
}
