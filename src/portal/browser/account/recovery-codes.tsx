import { Button, Group, Stack, Text } from '@mantine/core';
import { encodeQR } from 'qr';
import { saveFile } from '../gateway/save-file';
import { useTexts } from '../language/use-texts';
import { CodeToCopy } from '../shell/code-to-copy';

export interface RecoveryCodesProps {
  readonly codes: readonly string[];
  /** Called when the user has seen the codes. Only this component holds them. */
  onDone(): void;
}

/** Shows new recovery codes, for the user to save. */
export function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const t = useTexts();
  const text = codes.join('\n');
  return (
    <Stack gap="md" role="status">
      <Text fw={600}>{t('Two-factor authentication is on.')}</Text>
      <Text size="sm">
        {t('Keep these recovery codes somewhere other than your phone. Each one works once.')}{' '}
        {t('They will not be shown again.')}
      </Text>
      <CodeToCopy title={t('Recovery codes')} text={text} />
      <Group justify="space-between">
        <Button
          variant="default"
          onClick={() =>
            saveFile(new Blob([text, '\n'], { type: 'text/plain' }), 'campus-recovery-codes.txt')
          }
        >
          {t('Save as a file')}
        </Button>
        <Button onClick={onDone}>{t('I have saved them')}</Button>
      </Group>
    </Stack>
  );
}

export interface QrCodeProps {
  /** The content that a camera reads. */
  readonly text: string;
  /** A description for screen readers. */
  readonly label: string;
}

/** The number of empty modules around the code that a camera needs. */
const QUIET_ZONE = 4;

/**
 * Dark on light in every theme, because few cameras read the opposite. The code is drawn here, and its
 * content is sent nowhere.
 */
export function QrCode({ text, label }: QrCodeProps) {
  // A screen is clean, so that little error correction is needed and the modules can be large.
  const rows = encodeQR(text, 'raw', { border: QUIET_ZONE, ecc: 'low' });
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg viewBox={`0 0 ${rows.length} ${rows.length}`} className="qr-code" role="img" aria-label={label}>
      <rect width="100%" height="100%" fill="#fff" />
      <path d={squares.join('')} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
