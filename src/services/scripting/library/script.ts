/**
 * A stored script: its code, who may run it, with which rights, and its triggers. Parsed from an admin's
 * input.
 */
import { Cron } from 'croner';
import { z } from 'zod';
import { andMore, type ErrorDetail, ServiceError, tryTo } from '../../../base/errors.js';
import { ScriptField } from './declared-field.js';

export const ENDPOINT_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const SCRIPT_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const MOST_TRIGGERS = 20;

const name = z.string().regex(SCRIPT_NAME, 'a letter, then at most 63 of A-Z, a-z, 0-9, `_`, `.`, `-`');
const word = z.string().min(1).max(100);
const roles = z.array(word).max(50);
const trigger = z.strictObject({
  collection: word,
  operations: z
    .array(z.enum(['create', 'update', 'delete']))
    .min(1)
    .max(3),
});

/** The settings as stored, without those that are not set. */
export const StoredSettings = z.strictObject({
  description: z.string().max(2_000).default(''),
  /** A disabled script is kept and can be edited, but never runs. */
  isEnabled: z.boolean().default(true),
  /** The roles that may run it, in addition to admins. */
  roles: roles.default([]),
  /** The roles it runs with, instead of the caller's. `undefined`: it runs as the caller. */
  serviceRoles: roles.min(1).optional(),
  /** Runs within the write, which it may change or refuse. */
  before: z.array(trigger).max(MOST_TRIGGERS).default([]),
  /** Runs after the commit of the write. */
  after: z.array(trigger).max(MOST_TRIGGERS).default([]),
  /** Minute, hour, day, month, weekday, in the time zone of the domain: `30 20 * * *`. */
  schedule: z
    .string()
    .max(100)
    .refine(isSchedule, 'five fields, minute, hour, day, month, weekday, e.g. `30 20 * * *`')
    .optional(),
  /** Runs for each message published to one of these. */
  topics: z.array(word).max(MOST_TRIGGERS).default([]),
  /** `/x/<name>`. `public`: for anybody; `caller`: for callers who may run the script. */
  endpoint: z
    .strictObject({
      access: z.enum(['public', 'caller']),
      methods: z.array(z.enum(ENDPOINT_METHODS)).min(1).default(['GET', 'POST']),
    })
    .optional(),
  /** The field of GraphQL that the head of its code declares. */
  field: ScriptField.optional(),
});

export type ScriptSettings = z.output<typeof StoredSettings>;

export interface ScriptDefinition extends ScriptSettings {
  readonly name: string;
  readonly code: string;
}

export interface Script extends ScriptDefinition {
  readonly domainId: string;
  /** Incremented each time the script is saved. */
  readonly version: number;
  /** The user who created it. */
  readonly owner: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly updatedBy: string;
}

/**
 * Parses a definition. `serviceRoles` are required for triggers without a caller: a schedule, a topic, an
 * `after` trigger or a public endpoint.
 *
 * @throws INVALID_VALUE naming every fault by its JSON pointer
 */
export function parseScript(sent: unknown, limits: { readonly maxCodeBytes: number }): ScriptDefinition {
  const Definition = StoredSettings.omit({ field: true }).extend({ name, code: z.string() });
  const parsed = Definition.safeParse(sent);
  if (!parsed.success) throw invalidScript(parsed.error.issues.map(toErrorDetail));
  const definition = parsed.data;
  const faults = findFaults(definition, limits.maxCodeBytes);
  if (faults.length > 0) throw invalidScript(faults);
  return definition;
}

function findFaults(script: ScriptSettings & { readonly code: string }, maxCodeBytes: number): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  const bytes = Buffer.byteLength(script.code);
  if (bytes > maxCodeBytes) {
    faults.push({
      pointer: '/code',
      detail: `/code: has ${bytes} bytes`,
      expected: `at most ${maxCodeBytes} bytes`,
    });
  }
  if (script.code.includes('\0')) {
    faults.push({ pointer: '/code', detail: '/code: holds the character U+0000, which cannot be stored' });
  }
  const uncalled = uncalledStarts(script);
  if (script.serviceRoles === undefined && uncalled.length > 0) {
    faults.push({
      pointer: '/serviceRoles',
      detail: `/serviceRoles: is required with ${uncalled.join(', ')}, where there is no caller to run as`,
      expected: 'the roles the script runs with, e.g. ["clerk"]',
    });
  }
  return faults;
}

function uncalledStarts(settings: ScriptSettings): string[] {
  return [
    ...(settings.schedule === undefined ? [] : ['schedule']),
    ...(settings.after.length === 0 ? [] : ['after']),
    ...(settings.topics.length === 0 ? [] : ['topics']),
    ...(settings.endpoint?.access === 'public' ? ['a public endpoint'] : []),
  ];
}

function isSchedule(text: string): boolean {
  if (text.trim().split(/\s+/).length !== 5) return false;
  return (tryTo(() => new Cron(text, { paused: true }).nextRun()) ?? null) !== null;
}

function toErrorDetail(issue: z.core.$ZodIssue): ErrorDetail {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const path = [...issue.path, ...(unknown === undefined ? [] : [unknown])];
  const pointer = path.map((segment) => `/${String(segment)}`).join('');
  return { pointer, detail: `${pointer}: ${issue.message}` };
}

function invalidScript(errors: readonly ErrorDetail[]): ServiceError {
  const detail = `The script is not valid: ${errors[0]?.detail}${andMore(errors)}`;
  return new ServiceError('INVALID_VALUE', detail, { errors });
}
