/**
 * Creates a key that replaces another one. The old key keeps working for a while, so that programs can
 * change over.
 */
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiKeysOfPortal, RotateApiKeyInPortal } from '../../../generated/portal/keys/keys';
import { useChange } from '../gateway/use-gateway';
import { useTexts } from '../language/use-texts';
import { ProblemState } from '../shell/states';
import { KeySecret } from './new-key-dialog';

export interface RotateKeyDialogProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

export function RotateKeyDialog({ id, name, onClose }: RotateKeyDialogProps) {
  const t = useTexts();
  const [overlap, setOverlap] = useState('86400');
  const rotate = useChange(RotateApiKeyInPortal, [ApiKeysOfPortal]);
  const secret = rotate.data?.rotateApiKey.key;
  return (
    <Modal
      opened
      onClose={onClose}
      title={secret === undefined ? t('Rotate {name}?', { name }) : t('Your new key')}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('Close') }}
    >
      {secret === undefined ? (
        <Stack>
          <Text size="sm">
            {t('A new key with the same name, scopes, addresses and expiry replaces it.')}
          </Text>
          <Select
            label={t('Keep the old key for')}
            data={[
              { value: '0', label: t('No time: end it now') },
              { value: '3600', label: t('An hour') },
              { value: '86400', label: t('A day') },
              { value: '604800', label: t('A week') },
              { value: '2592000', label: t('30 days') },
            ]}
            value={overlap}
            onChange={(next) => setOverlap(next ?? '0')}
            allowDeselect={false}
          />
          {rotate.error && <ProblemState problem={rotate.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('Cancel')}
            </Button>
            <Button
              loading={rotate.isPending}
              onClick={() => rotate.mutate({ id, overlapSeconds: Number(overlap) })}
            >
              {t('Rotate')}
            </Button>
          </Group>
        </Stack>
      ) : (
        <KeySecret secret={secret} onClose={onClose} />
      )}
    </Modal>
  );
}
