import { Anchor, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from '../language/use-texts';

/** In place of the form that a link leads to, where it leads nowhere any more. */
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
