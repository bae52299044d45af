import { z } from 'zod';

/** A completed erasure, which does not name the person. */
export const DoneErasure = z.object({
  domain: z.string(),
  collection: z.string(),
  /** SHA-256 of the collection and the `_id`. */
  person: z.string().regex(/^[0-9a-f]{64}$/),
  pseudonym: z.string().regex(/^erased-[0-9a-f]{8}$/),
  at: z.string(),
});
export type DoneErasure = z.output<typeof DoneErasure>;
