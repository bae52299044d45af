import { Alert, Code, Stack, Text } from '@mantine/core';
import { useFormats } from '../language/use-formats';
import { useTexts } from '../language/use-texts';
import { CopyTextButton } from '../shell/copy-text-button';

export interface SentLinkNoticeProps {
  /** `null` if the gateway has mailed it. */
  readonly link: string | null;
  readonly expiresAt: string;
}

/** Says whether a link for setting a password was mailed or must be passed on. */
export function SentLinkNotice({ link, expiresAt }: SentLinkNoticeProps) {
  const t = useTexts();
  const { instant } = useFormats();
  const until = t('It works once, until {time}.', { time: instant(expiresAt) });
  if (link === null) return <Alert title={t('Link sent by email')}>{until}</Alert>;
  const address = new URL(link, window.location.origin).href;
  return (
    <Alert title={t('Give them this link. It will not be shown again')}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{until}</Text>
        <Code className="wrapped">{address}</Code>
        <CopyTextButton title={t('the link')} text={address} />
      </Stack>
    </Alert>
  );
}
