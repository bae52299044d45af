/**
 * A file that is sent piece by piece, its length said at once or with a later piece, while the gateway that
 * takes it or the database is killed.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/school/demo/random.js';
import { type KilledWork, killAgain } from './kill-again.js';
import type { KilledSchool } from './killed-school.js';

const TUS = { 'tus-resumable': '1.0.0' };
const PIECE_BYTES = 1_000_000;
const SENT_WITHIN_MS = 120_000;
/** Without it, a gateway that is down is asked without an end, until the memory is used up. */
const PAUSE_MS = 20;

export async function killUpload(
  school: KilledSchool,
  { random, bytes, kills }: { readonly random: Random; readonly bytes: number; readonly kills: number },
): Promise<KilledWork> {
  const content = randomBytes(bytes);
  // From which byte on the length is said, where it was not at once.
  const isDeferred = random.pick([true, false]);
  const toldFrom = random.integer(0, bytes - 1);
  const opened = await school.fetch('/files', {
    method: 'POST',
    headers: {
      ...TUS,
      ...(isDeferred ? { 'upload-defer-length': '1' } : { 'upload-length': String(bytes) }),
      'upload-metadata': `filename ${Buffer.from('scan.bin').toString('base64')}`,
    },
  });
  const path = opened?.headers.get('location');
  if (!path) throw new Error(`no upload was opened: ${opened?.status}`);
  let acknowledged = 0;
  const faults: string[] = [];

  /** One step: asks how far the upload is, and sends the next piece. */
  const sendOn = async () => {
    const head = await school.fetch(path, { method: 'HEAD', headers: TUS });
    if (!head?.ok) return;
    const offset = Number(head.headers.get('upload-offset'));
    if (offset < acknowledged) faults.push(`${offset} bytes are kept of ${acknowledged} acknowledged ones`);
    const told = head.headers.get('upload-length');
    if (told !== null && told !== String(bytes)) faults.push(`the upload is of ${told} bytes, not ${bytes}`);
    // Of an upload whose length is not known yet, all bytes are no end.
    if (offset === bytes && told !== null) acknowledged = bytes;
    else {
      const body = content.subarray(offset, offset + PIECE_BYTES);
      const tells = told === null && offset + body.length > toldFrom;
      const headers = {
        ...TUS,
        ...(tells && { 'upload-length': String(bytes) }),
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream',
      };
      const answer = await school.fetch(path, { method: 'PATCH', headers, body });
      if (answer?.ok) acknowledged = Number(answer.headers.get('upload-offset'));
    }
  };
  let isSent = false;
  const send = async () => {
    for (const end = Date.now() + SENT_WITHIN_MS; acknowledged < bytes; await sleep(PAUSE_MS)) {
      if (Date.now() > end) {
        faults.push(`the upload stays at ${acknowledged} of ${bytes} bytes`);
        break;
      }
      await sendOn();
    }
    isSent = true;
  };
  const sending = send();
  const { kills: done, faults: found } = await killAgain(school, {
    random,
    kills,
    killAfterMs: [0, 400],
    isOver: async () => isSent,
    findFaults: async () => [],
  });
  await sending;
  const file = await school.fetch(path, {});
  const kept = file?.ok ? Buffer.from(await file.arrayBuffer()) : Buffer.alloc(0);
  const digestOf = (text: Buffer) => createHash('sha256').update(text).digest('hex');
  if (digestOf(kept) !== digestOf(content)) faults.push(`the file has ${kept.length} bytes, not those sent`);
  return { kills: done, faults: [...faults, ...found] };
}
