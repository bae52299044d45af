/** A format of another program as one zip file, and the part of the records that it is limited to. */
import { invalidAt } from '../../base/errors.js';
import type { EndSignal } from '../../base/model/end-signal.js';
import type { Scope } from '../../base/model/scope.js';
import { printZip, type ZipEntry } from '../../base/tables/print-zip.js';
import { isReportDay } from '../../school/reports/engine/parameter-types.js';
import { sessionOf, todayIn } from '../../school/reports/engine/school-calendar.js';
import { schoolSettings } from '../../school/reports/engine/school-settings.js';
import type { Domains } from '../../store/catalog/domains.js';
import { parseSince } from '../../store/reading/changed-since.js';
import type { RecordStore } from '../../store/record-store.js';
import { FormatExport, type FormatPart, printLacks, usedFields } from './format-export.js';
import { type FormatMapping, type FormatName, readFormatMapping } from './format-mapping.js';

/**
 * Reads the part that a caller requests. `prefix` precedes the name of a parameter: `--` on the command line.
 *
 * @throws INVALID_VALUE for a part that the format does not know, or that is none
 */
export function readFormatPart(
  { changes, files }: FormatMapping,
  sent: FormatPart,
  limits: {
    readonly format: string;
    readonly prefix?: string;
    readonly timeZone: string;
    readonly keepRemovedDays: number;
  },
): FormatPart {
  const { format, prefix = '' } = limits;
  const refusal = (name: keyof FormatPart, expected: string, why?: string) => {
    const text = `${prefix}${name} is ${JSON.stringify(sent[name])}; expected ${expected}.`;
    return invalidAt(why ?? text, { parameter: `${prefix}${name}`, expected, sent: sent[name] ?? null });
  };
  const { since, from, to } = sent;
  if (since !== undefined && changes === undefined) {
    const why = `${format} cannot be limited to changes: leave ${prefix}since out.`;
    throw refusal('since', 'nothing', why);
  }
  const hasDays = files.some((file) => file.sources.some((source) => 'day' in source));
  for (const name of ['from', 'to'] as const) {
    const day = sent[name];
    if (day === undefined) continue;
    if (!hasDays) throw refusal(name, 'nothing', `${format} has no days: leave ${prefix}${name} out.`);
    if (!isReportDay(day)) throw refusal(name, 'a day YYYY-MM-DD');
  }
  if (from !== undefined && to !== undefined && to < from) throw refusal('to', `${from} or later`);
  if (since === undefined) return { from, to };
  return { since: parseSince(since, { ...limits, parameter: `${prefix}since` }), from, to };
}

/** The values a mapping uses beside the records. */
export function formatContext(domains: Domains, { domain }: Scope, now: Date) {
  const property = (name: string) => domains.property(domain.id, name);
  const { sessionFirstMonth } = schoolSettings(property);
  const session = sessionOf(todayIn(domain.timeZone, now), sessionFirstMonth);
  return { domain, property, session, sessionFirstMonth };
}

/** Opened: nothing is read before the signal of who reads is given. */
export type FormatZip = (signal: EndSignal) => AsyncGenerator<Uint8Array, void>;

/**
 * The files of one of our formats, and who lacks what unless the format is a zip file itself: as a zip file
 * that is written while it is read.
 *
 * @throws INVALID_VALUE for a part that the format does not know; FORBIDDEN for one of its collections
 */
export async function openFormatZip(
  services: { readonly store: RecordStore; readonly domains: Domains; readonly keepRemovedDays: number },
  scope: Scope,
  format: FormatName,
  sent: FormatPart,
): Promise<FormatZip> {
  const { store, domains, keepRemovedDays } = services;
  const { timeZone } = scope.domain;
  const mapping = await readFormatMapping(format);
  const part = readFormatPart(mapping, sent, { format, timeZone, keepRemovedDays });
  for (const collection of usedFields(mapping).keys()) store.assertAllowed(scope, collection, 'read');
  const now = new Date();
  return (signal) => {
    const context = formatContext(domains, scope, now);
    const work = new FormatExport(mapping, { store, scope, ...part, now, signal, context });
    return printZip(entries(work), now);
  };

  async function* entries(work: FormatExport): AsyncGenerator<ZipEntry, void> {
    yield* work.files();
    // A format that is a zip file itself specifies its content.
    const lacks = mapping.bundle === 'zip' ? [] : [...printLacks(work.lacks)];
    if (lacks.length > 0) yield { path: `${format}-readiness.csv`, content: lacks };
  }
}
