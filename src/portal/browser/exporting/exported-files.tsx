/** The progress of an export, with a line for each file. */
import { Loader, Stack, Table, Text } from '@mantine/core';
import { ProblemWords } from '../language/problem-words';
import { useFormats } from '../language/use-formats';
import { phrase, useTexts } from '../language/use-texts';
import { StateTag } from '../shell/state-tag';
import { useViewer } from '../shell/viewer';
import type { ExportedFile } from './use-export';

const STATE_NAMES: Readonly<Record<ExportedFile['state'], string>> = {
  waiting: phrase('Waiting'),
  running: phrase('In progress'),
  done: phrase('Saved'),
  failed: phrase('Failed'),
  stopped: phrase('Stopped'),
};

export function ExportedFiles({ files }: { readonly files: readonly ExportedFile[] }) {
  const t = useTexts();
  const formats = useFormats();
  const { collections } = useViewer();
  return (
    <Stack gap="xs">
      <Table className="stacked-table" verticalSpacing="sm" aria-label={t('Files of this export')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Collection')}</Table.Th>
            <Table.Th>{t('State')}</Table.Th>
            <Table.Th className="numeric">{t('Size')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {files.map(({ collection, state, bytes, problem }) => (
            <Table.Tr key={collection}>
              <Table.Td>
                {collections.find(({ name }) => name === collection)?.title ?? collection}
                {problem && (
                  <Text size="sm" c="red" className="wrapped">
                    <ProblemWords text={problem.message} />
                  </Text>
                )}
              </Table.Td>
              <Table.Td data-label={t('State')}>
                <StateTag state={state}>
                  {state === 'running' && <Loader size={10} />}
                  {t(STATE_NAMES[state])}
                </StateTag>
              </Table.Td>
              <Table.Td className="numeric" data-label={t('Size')}>
                {formats.bytes(bytes)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed" role="status">
        {t('{done} of {all} files saved', {
          done: formats.number(files.filter(({ state }) => state === 'done').length),
          all: formats.number(files.length),
        })}
      </Text>
    </Stack>
  );
}
