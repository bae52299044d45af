/** A running export: one file for each collection, one after the other. */
import { Loader, Stack, Text } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { readInParts } from '../gateway/read-in-parts';
import { saveFile } from '../gateway/save-file';
import { useGateway, useTitleOf } from '../gateway/use-gateway';
import { ProblemWords } from '../language/problem-words';
import { formats, phrase, t } from '../language/texts';
import { toError } from '../session/gateway-problem';
import { StateTag } from '../shell/icon';
import { ListTable } from '../shell/list-table';
import { type AskedExport, exportAddress } from './asked-export';

export interface ExportedFile {
  readonly collection: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'stopped';
  readonly bytes: number;
  readonly problem?: Error;
}

export interface RunningExport {
  readonly files: readonly ExportedFile[];
  readonly isRunning: boolean;
  /** The start of the next export of changes: the earliest of its files. */
  readonly next: string | undefined;
  start(asked: AskedExport): void;
  stop(): void;
}

/** Reporting every piece would render the page a thousand times a second. */
const TELL_EVERY_MS = 200;

export function useExport(): RunningExport {
  const gateway = useGateway();
  const [files, setFiles] = useState<readonly ExportedFile[]>([]);
  const [next, setNext] = useState<string>();
  const ending = useRef<AbortController>(undefined);
  const stop = useCallback(() => ending.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const change = (collection: string, changes: Partial<ExportedFile>) =>
    setFiles((before) => before.map((one) => (one.collection === collection ? { ...one, ...changes } : one)));

  async function exportOne(asked: AskedExport, collection: string, signal: AbortSignal): Promise<void> {
    change(collection, { state: 'running' });
    const response = await gateway.fetchAnswer(exportAddress(asked, collection), { signal });
    const from = response.headers.get('x-next-since');
    let toldAt = 0;
    const file = await readInParts(response, (bytes) => {
      if (Date.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = Date.now();
      change(collection, { bytes });
    });
    saveFile(file, `${collection}.${asked.format}`);
    change(collection, { state: 'done', bytes: file.size });
    if (from !== null) setNext((before) => (before !== undefined && before < from ? before : from));
  }

  async function run(asked: AskedExport, signal: AbortSignal): Promise<void> {
    setNext(undefined);
    setFiles(asked.collections.map((collection) => ({ collection, state: 'waiting', bytes: 0 })));
    for (const collection of asked.collections) {
      try {
        signal.throwIfAborted();
        await exportOne(asked, collection, signal);
      } catch (fault) {
        if (signal.aborted) change(collection, { state: 'stopped' });
        else change(collection, { state: 'failed', problem: toError(fault) });
      }
    }
  }

  return {
    files,
    isRunning: files.some(({ state }) => state === 'waiting' || state === 'running'),
    next,
    start(asked) {
      stop();
      const controller = new AbortController();
      ending.current = controller;
      void run(asked, controller.signal);
    },
    stop,
  };
}

const STATE_NAMES: Readonly<Record<ExportedFile['state'], string>> = {
  waiting: phrase('Waiting'),
  running: phrase('In progress'),
  done: phrase('Saved'),
  failed: phrase('Failed'),
  stopped: phrase('Stopped'),
};

export function ExportedFiles({ files }: { readonly files: readonly ExportedFile[] }) {
  const titleOf = useTitleOf();
  return (
    <Stack gap="xs">
      <ListTable
        label={t('Files of this export')}
        rows={files}
        keyOf={({ collection }) => collection}
        columns={[
          [
            t('Collection'),
            ({ collection, problem }) => (
              <>
                {titleOf(collection)}
                {problem && (
                  <Text c="red" className="wrapped">
                    <ProblemWords text={problem.message} />
                  </Text>
                )}
              </>
            ),
          ],
          [
            t('State'),
            ({ state }) => (
              <StateTag state={state}>
                {state === 'running' && <Loader size={10} />}
                {t(STATE_NAMES[state])}
              </StateTag>
            ),
          ],
          [t('Size'), ({ bytes }) => formats.bytes(bytes), 'numeric'],
        ]}
      />
      <Text c="dimmed" role="status">
        {t('{done} of {all} files saved', {
          done: formats.number(files.filter(({ state }) => state === 'done').length),
          all: formats.number(files.length),
        })}
      </Text>
    </Stack>
  );
}
