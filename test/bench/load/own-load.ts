/**
 * The load generator where wrk is not installed: a process of its own that writes the bytes of prepared
 * requests to sockets and looks at the answers no closer than it takes to see where each ends. Settings come
 * as one JSON argument, an `OwnLoad`; the result goes to standard output as wrk.lua writes it.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { MARK_PLACE, newMark } from '../questions.js';

export interface OwnLoad {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** A file as wrk.lua reads it. */
  readonly requests: string;
  /** The first day of the marks to create. */
  readonly marks?: string;
}

const load = JSON.parse(process.argv[2] ?? '') as OwnLoad;
const requests = readRequests(load.requests);
const latenciesMs: number[] = [];
let place = 0;
let failed = 0;
const startedAt = performance.now();
const endAt = startedAt + load.seconds * 1000;

await Promise.all(Array.from({ length: load.connections }, sendInTurn));
const seconds = (performance.now() - startedAt) / 1000;
const sorted = Float64Array.from(latenciesMs).sort();
const quantile = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
const result = { requests: sorted.length, seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99), failed };
process.stdout.write(`RESULT ${JSON.stringify(result)}\n`);

function nextRequest(): Buffer | string {
  const request = requests[place % requests.length] ?? '';
  const number = place;
  place += 1;
  if (load.marks === undefined) return request;
  const mark = newMark(load.marks, number);
  return request
    .toString()
    .replaceAll(MARK_PLACE.student, mark.student)
    .replaceAll(MARK_PLACE.day, mark.day)
    .replaceAll(MARK_PLACE.class, mark.class)
    .replaceAll(MARK_PLACE.section, mark.section);
}

/** Sends one request after the other on a connection until the time is over. */
function sendInTurn(): Promise<void> {
  return new Promise((resolve, reject) => {
    let sentAt = 0;
    let answer = Buffer.alloc(0);
    const socket = connect({ host: load.host, port: load.port, noDelay: true });
    const send = () => {
      sentAt = performance.now();
      answer = Buffer.alloc(0);
      socket.write(nextRequest());
    };
    socket.on('connect', send);
    socket.on('data', (chunk) => {
      answer = answer.length === 0 ? chunk : Buffer.concat([answer, chunk]);
      if (!isWhole(answer)) return;
      latenciesMs.push(performance.now() - sentAt);
      if (answer[9] !== 0x32) failed += 1;
      if (performance.now() < endAt) send();
      else socket.end(resolve);
    });
    socket.on('error', reject);
    socket.on('close', resolve);
  });
}

/** Whether an answer has come to its end, by its length or by its last chunk. */
function isWhole(answer: Buffer): boolean {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const head = answer.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) return answer.length >= headEnd + 4 + Number(length);
  return answer.toString('latin1', answer.length - 5) === '0\r\n\r\n';
}

function readRequests(path: string): Buffer[] {
  const bytes = readFileSync(path);
  const found: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const lineEnd = bytes.indexOf('\n', start);
    const length = Number(bytes.toString('latin1', start, lineEnd));
    found.push(bytes.subarray(lineEnd + 1, lineEnd + 1 + length));
    start = lineEnd + 1 + length;
  }
  return found;
}
