/** What was exported and is imported into an empty domain gives the same bytes when it is exported again. */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, parseExactJson } from '../../../src/base/json/json.js';
import { queryOf } from '../../../src/base/model/record-query.js';
import { systemPrincipal } from '../../../src/base/model/scope.js';
import { operatorScope } from '../../../src/cli/command-line.js';
import { openServices, type Services } from '../../../src/gateway/compose/services.js';
import { parseConfig } from '../../../src/gateway/config/config.js';
import { DEMO_DEFAULTS } from '../../../src/school/demo/demo-options.js';
import { type ExportFormat, exportRecords } from '../../../src/services/exporting/print-records.js';
import type { StoredImport } from '../../../src/services/importing/stored-import.js';
import { createDemoDatabase } from '../../demo-template.js';
import { IS_FULL_LENGTH } from '../../full-length.js';

const FORMATS = ['ndjson', 'csv', 'xlsx', 'csv-local', 'xlsx-local'] as const;
type FileKind = (typeof FORMATS)[number] | 'ndjson';

/** `-local`: the instants are days and times of the school. */
const optionsOf = (kind: FileKind) => ({
  format: kind.replace('-local', '') as ExportFormat,
  timeZone: kind.endsWith('-local') ? 'Asia/Kolkata' : undefined,
});

let services: Services;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createDemoDatabase({ ...DEMO_DEFAULTS, today: '2026-05-10', students: 12 });
  drop = database.drop;
  services = await openServices({
    config: parseConfig({ DATABASE_URL: database.url }),
    onFault: (task, error) => {
      throw new Error(task, { cause: error });
    },
  });
  const scope = operatorScope(services, undefined);
  for (const domain of FORMATS) {
    await services.domains.create(scope, { id: `from-${domain}`, name: domain });
  }
  await services.store.create(scope, 'task', HOSTILE);
});

afterAll(async () => {
  await services.close();
  await drop();
});

/** Texts, numbers and names that formats are wont to lose. */
const HOSTILE = parseExactJson(`[
  {"_id": "h-01", "name": "=cmd|'/c calc'!A1", "amount": 12.50, "note": "'=quoted"},
  {"_id": "h-02", "name": "  spaces  ", "amount": 123456789012345678901234567890.123, "text": ""},
  {"_id": "h-03", "name": "line\\r\\nbreak, \\"quoted\\"\\ttab", "amount": -0.10, "empty": {}, "none": null},
  {"_id": "h-04", "name": "+91 98765 43210", "list": [], "deep": {"a": {"b": [1, {"c": null}]}}},
  {"_id": "h-05", "name": "\\u200b=1+1", "__proto__": {"polluted": true}, "constructor": 1, "a.b": "dot"},
  {"_id": "h-06", "name": "true", "amount": 0, "created_on": "2026-07-01T00:00:00.000Z"},
  {"_id": "h-07", "name": "1.0", "manager": {"value": "usr-admin", "label": "Head", "more": [1]}},
  {"_id": "h-08", "name": "😀\\u2028", "amount": 1e20, "…": "rest", "error": "no error", "$end": true},
  {"_id": "h-09", "name": "\\\\N", "manager": null, "amount": null},
  {"_id": "h-10", "name": "''", "tab": "\\t", "number": "007"}
]`) as unknown as JsonObject[];

async function exported(domain: string | undefined, collection: string, kind: FileKind): Promise<Buffer> {
  const scope = operatorScope(services, domain);
  const records = services.store.find(scope, queryOf(collection));
  const chunks: Uint8Array[] = [];
  for await (const chunk of exportRecords(records, {
    ...optionsOf(kind),
    open: (lines) => records.stream(lines, AbortSignal.timeout(60_000)),
  }))
    chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function imported(
  domain: string,
  collection: string,
  file: Buffer,
  format: FileKind,
): Promise<StoredImport> {
  const operator = operatorScope(services, domain);
  // Receipts are written by the service alone.
  const principal = systemPrincipal('test', ['admin', 'system'], operator.domain.id);
  const scope = { ...operator, principal };
  const { signal } = new AbortController();
  const one = await services.imports.create(scope, {
    collection,
    file: { name: `${collection}.${optionsOf(format).format}`, stream: Readable.from([file]) },
    source: {},
    options: { mode: 'atomic' },
  });
  const inspected = await services.importRunner.run(one.id, signal);
  if (inspected.kind !== 'over' || inspected.import.state !== 'ready')
    throw new Error(JSON.stringify(inspected));
  await services.imports.start(scope, one.id);
  const outcome = await services.importRunner.run(one.id, signal);
  if (outcome.kind !== 'over') throw new Error('another import is under way');
  if (outcome.import.state !== 'done') {
    throw new Error(JSON.stringify(await services.imports.listErrors(scope, one.id, 3)));
  }
  return outcome.import;
}

/** The records as they are, whatever the format of the file that is tried. */
async function linesOf(domain: string | undefined, collection: string): Promise<readonly string[]> {
  return (await exported(domain, collection, 'ndjson')).toString('utf8').split('\n');
}

/**
 * Those that others point at come first. Of those that follow `npm test` tries each in one format; the
 * campaign `generative` tries them all in all.
 */
function collectionsIn(format: (typeof FORMATS)[number]): readonly string[] {
  const collections = services.catalog.list();
  const first = ['pltf_user', 'class', 'fee_head', 'registration'];
  const others = collections.map(({ name }) => name).filter((name) => !first.includes(name));
  const isChosen = (name: string, index: number) =>
    IS_FULL_LENGTH || name === 'task' || index % FORMATS.length === FORMATS.indexOf(format);
  return [...first, ...others.filter(isChosen)];
}

describe.each(FORMATS)('all collections as %s', (format) => {
  it('come back as they were, and a second time nothing changes', async () => {
    for (const collection of collectionsIn(format)) {
      const file = await exported(undefined, collection, format);
      const lines = await linesOf(undefined, collection);
      const rows = lines.length - 1;
      if (rows === 0) continue;
      const one = await imported(`from-${format}`, collection, file, format);
      expect({ collection, created: one.counts.created }).toEqual({ collection, created: rows });
      const again = await linesOf(`from-${format}`, collection);
      expect(firstDifference(again, lines, collection)).toBeUndefined();
      expect((await exported(`from-${format}`, collection, format)).equals(file)).toBe(true);
    }
    const tasks = await exported(undefined, 'task', format);
    expect((await imported(`from-${format}`, 'task', tasks, format)).counts).toMatchObject({
      created: 0,
      updated: 0,
    });
  });
});

/** Two long texts are hard to compare by eye. */
function firstDifference(found: readonly string[], expected: readonly string[], collection: string) {
  const at = expected.findIndex((line, index) => line !== found[index]);
  return at < 0 ? undefined : { collection, found: found[at], expected: expected[at] };
}
