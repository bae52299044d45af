/** The messages between the first process and its workers. */
import { z } from 'zod';
import type { FigureList } from '../gateway/server/metrics.js';

/** To a worker. */
export type WorkerOrder =
  /** The answer to `ready`. */
  | { readonly kind: 'begin'; readonly doesBackgroundWork: boolean }
  /** Its figures are wanted, in an answer with this number. */
  | { readonly kind: 'tellFigures'; readonly number: number }
  /** The figures of all workers, as the worker asked for them by this number. */
  | { readonly kind: 'figures'; readonly number: number; readonly text: string }
  | { readonly kind: 'stop' };

/** From a worker. */
export type WorkerNews =
  /** It hears orders from here on. */
  | { readonly kind: 'ready' }
  /** Sent regularly; a worker whose event loop is blocked sends nothing. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'ownFigures'; readonly number: number; readonly figures: FigureList }
  | { readonly kind: 'askFigures'; readonly number: number };

const ORDER = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begin'), doesBackgroundWork: z.boolean() }),
  z.object({ kind: z.literal('tellFigures'), number: z.number() }),
  z.object({ kind: z.literal('figures'), number: z.number(), text: z.string() }),
  z.object({ kind: z.literal('stop') }),
]);

const NEWS = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('alive') }),
  z.object({ kind: z.literal('listening'), url: z.string() }),
  // The library that wrote the figures also adds them up; their content is not checked here.
  z.object({
    kind: z.literal('ownFigures'),
    number: z.number(),
    figures: z.custom<FigureList>(Array.isArray),
  }),
  z.object({ kind: z.literal('askFigures'), number: z.number() }),
]);

/** How often a worker says that it is alive. */
export const HEARTBEAT_MS = 2_000;

/** `undefined` for a message of somebody else, such as a library that uses the same channel. */
export function parseWorkerOrder(message: unknown): WorkerOrder | undefined {
  return ORDER.safeParse(message).data;
}

/** `undefined` for a message of somebody else. */
export function parseWorkerNews(message: unknown): WorkerNews | undefined {
  return NEWS.safeParse(message).data;
}
