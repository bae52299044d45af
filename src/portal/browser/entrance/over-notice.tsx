import { Anchor, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';

/** Shown in place of the form if its link is no longer valid. */
export function OverNotice({ children }: { readonly children: ReactNode }) {
  const t = useTexts();
  return (
    <>
      <div>
        <Title order={2} size="h5">
          {t('This link does not work any more')}
        </Title>
        <Text size="sm">{children}</Text>
      </div>
      <Anchor href="/">{t('To the log-in')}</Anchor>
    </>
  );
}
