import { PasswordInput } from '@mantine/core';
import { useTexts } from '../language/use-texts';

/** Fields for a password that is typed twice. The names of the fields are `password` and `repeated`. */
export function NewPasswordFields() {
  const t = useTexts();
  const shared = {
    autoComplete: 'new-password',
    required: true,
    withAsterisk: false,
    maxLength: 128,
    visibilityToggleButtonProps: { 'aria-label': t('Show characters') },
  };
  return (
    <>
      <PasswordInput
        {...shared}
        name="password"
        label={t('New password')}
        description={t('Long and hard to guess: several words are good')}
      />
      <PasswordInput {...shared} name="repeated" label={t('Confirm password')} />
    </>
  );
}
