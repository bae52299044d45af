/** Writes of every kind, and what has to be there of each afterwards: all of it once, or nothing. */
import type { Random } from '../../src/school/demo/random.js';
import type { KilledSchool, Outcome } from './killed-school.js';

interface Entry {
  readonly kind: string;
  readonly mark: string;
  readonly outcome: Outcome;
  /** Counts the pieces of the write that are there; `$1` is the mark. */
  readonly pieces: string;
  /** How many there are of a write that is done. */
  readonly whole: number;
  /** Sends the same once more, under the same key: it must be done afterwards, and once. */
  readonly again?: () => Promise<Outcome>;
}

type Kind = (school: KilledSchool, mark: string) => Promise<readonly Entry[]>;

/** Records named after the mark that are live, each with the audit entry of its creation. */
const CREATED = `
  select count(*) + count(a.id) as pieces
  from records r
  left join audit_entries a on a.collection = r.collection and a.record_id = r.id and a.operation = 'created'
  where r.collection = 'task' and r.deleted_at is null and r.data->>'name' = $1`;

/**
 * Records whose id begins with the mark and that were changed once, each with the audit entry of the change.
 */
const CHANGED = `
  select count(*) + count(a.id) as pieces
  from records r
  left join audit_entries a on a.collection = r.collection and a.record_id = r.id and a.operation <> 'created'
  where r.collection = 'task' and starts_with(r.id, $1 || ':') and r.version = 2`;

const KINDS: Readonly<Record<string, Kind>> = {
  async create(school, mark) {
    const { outcome } = await school.send('/o/task', json({ name: mark }));
    return [{ kind: 'create', mark, outcome, pieces: CREATED, whole: 2 }];
  },

  async update(school, mark) {
    await insertTasks(school, mark, 1);
    const { outcome } = await school.send(
      `/o/recs/task/${encodeURIComponent(`${mark}:0`)}`,
      json({ name: 'changed' }, 'PATCH'),
    );
    return [{ kind: 'update', mark, outcome, pieces: CHANGED, whole: 2 }];
  },

  async delete(school, mark) {
    await insertTasks(school, mark, 1);
    const path = `/o/recs/task/${encodeURIComponent(`${mark}:0`)}`;
    const { outcome } = await school.send(path, { method: 'DELETE' });
    return [{ kind: 'delete', mark, outcome, pieces: CHANGED, whole: 2 }];
  },

  async 'bulk create'(school, mark) {
    const query = 'mutation ($records: [CreateTaskInput!]!) { createTasks(records: $records) { count } }';
    const records = Array.from({ length: 20 }, () => ({ name: mark }));
    const { outcome } = await school.graphql(query, { records });
    return [{ kind: 'bulk create', mark, outcome, pieces: CREATED, whole: 40 }];
  },

  async 'bulk update'(school, mark) {
    await insertTasks(school, mark, 5);
    const query =
      'mutation ($ids: [ID!]) { updateTasks(where: {id: {in: $ids}}, increment: {amount: 1}) { count } }';
    const ids = Array.from({ length: 5 }, (_, index) => `${mark}:${index}`);
    const { outcome } = await school.graphql(query, { ids });
    return [{ kind: 'bulk update', mark, outcome, pieces: CHANGED, whole: 10 }];
  },

  async upsert(school, mark) {
    await insertTasks(school, mark, 2);
    const query = 'mutation ($records: [CreateTaskInput!]!) { upsertTasks(records: $records) { count } }';
    const records = [0, 1, 2].map((index) => ({ id: `${mark}:${index}`, name: 'changed' }));
    const { outcome } = await school.graphql(query, { records });
    const pieces = `
      select count(*) + count(a.id) as pieces
      from records r
      left join audit_entries a on a.collection = r.collection and a.record_id = r.id
      where r.collection = 'task' and starts_with(r.id, $1 || ':') and r.data->>'name' = 'changed'`;
    return [{ kind: 'upsert', mark, outcome, pieces, whole: 6 }];
  },

  async transaction(school, mark) {
    await insertTasks(school, mark, 2);
    const query = `mutation ($one: ID!, $other: ID!, $new: ID!) @transaction {
      one: updateTask(id: $one, data: {name: "changed"}) { id }
      createTask(data: {id: $new, name: "changed"}) { id }
      other: updateTask(id: $other, data: {name: "changed"}) { id }
    }`;
    const ids = { one: `${mark}:0`, other: `${mark}:1`, new: `${mark}:2` };
    const { outcome } = await school.graphql(query, ids);
    const pieces = `
      select count(*) + count(a.id) as pieces
      from records r
      left join audit_entries a on a.collection = r.collection and a.record_id = r.id
      where r.collection = 'task' and starts_with(r.id, $1 || ':') and r.data->>'name' = 'changed'`;
    return [{ kind: 'transaction', mark, outcome, pieces, whole: 6 }];
  },

  async receipt(school, mark) {
    await insertStudent(school, mark);
    const pay = `mutation ($student: String!) {
      recordReceipt(receipt: {studentId: $student, paymentType: CASH, amount: "100"}) { receiptNo }
    }`;
    const { outcome, data } = await school.graphql(pay, { student: mark });
    const paid: Entry = {
      ...{ kind: 'receipt', mark, outcome, whole: 3 },
      pieces: `
        select count(*) + count(a.id) + count(m.payments->r.id) as pieces
        from records r
        left join audit_entries a on a.collection = r.collection and a.record_id = r.id
          and a.operation = 'created'
        left join fee_months m on m.domain = r.domain and m.student = $1
        where r.collection = 'fee_receipt' and r.data->'student'->>'value' = $1`,
    };
    if (outcome !== 'acknowledged') return [paid];
    const { receiptNo } = Object(data.recordReceipt);
    const rollBack = `mutation ($no: String!) {
      rollBackReceipt(rollback: {receiptNo: $no, reason: "again", type: ENTRY_ERROR}) { receiptNo }
    }`;
    const undone = await school.graphql(rollBack, { no: receiptNo });
    // A receipt that is rolled back pays nothing, so that only what it is itself is still counted.
    const pieces = `
      select count(*) + count(a.id) as pieces
      from records r
      left join audit_entries a on a.collection = r.collection and a.record_id = r.id
        and a.operation = 'updated'
      where r.collection = 'fee_receipt' and r.data->'student'->>'value' = $1
        and r.data->>'status' = 'rolled_back'`;
    const there = `
      select count(*) as pieces from records
      where collection = 'fee_receipt' and data->'student'->>'value' = $1`;
    return [
      { ...paid, pieces: there, whole: 1 },
      { kind: 'roll-back', mark, outcome: undone.outcome, pieces, whole: 2 },
    ];
  },

  async 'write under a key'(school, mark) {
    const again = async () =>
      (await school.send('/o/task', json({ name: mark }, 'POST', { 'idempotency-key': mark }))).outcome;
    return [{ kind: 'write under a key', mark, outcome: await again(), pieces: CREATED, whole: 2, again }];
  },

  async file(school, mark) {
    const bytes = Buffer.alloc(600_000, mark);
    const { outcome } = await school.send(`/files?name=${encodeURIComponent(mark)}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: bytes,
    });
    const pieces = `
      select count(*) + count(*) filter (where f.size = ${bytes.length} and ${bytes.length} = (
        select sum(length(c.bytes)) from file_chunks c where c.file_id = f.id)) as pieces
      from files f
      where f.name = $1 and f.state = 'ready'`;
    return [{ kind: 'file', mark, outcome, pieces, whole: 2 }];
  },

  async message(school, mark) {
    const query =
      'mutation ($key: String!) { sendSms(data: {to: ["+919876543210"], text: "Namaste", key: $key}) ' +
      '{ id } }';
    const again = async () => (await school.graphql(query, { key: mark })).outcome;
    const pieces = `
      select count(*) + count(r.id) as pieces
      from messages m
      left join records r on r.collection = 'sms_log' and r.id = m.record_id
      where m.key = $1`;
    return [{ kind: 'message', mark, outcome: await again(), pieces, whole: 2, again }];
  },

  async script(school, mark) {
    const query =
      'mutation ($mark: String!) { runScript(name: "several", arguments: {mark: $mark}) { status } }';
    const { outcome, data } = await school.graphql(
      query.replace('{mark: $mark}', '$mark').replace('String!', 'JSON'),
      {
        mark: { mark },
      },
    );
    const isDone = Object(data.runScript).status === 'SUCCEEDED';
    return [
      {
        ...{ kind: 'script', mark, pieces: CREATED, whole: 6 },
        outcome: outcome === 'acknowledged' && !isDone ? 'unknown' : outcome,
      },
    ];
  },
};

/** The script of the kind `script`: three records, all or none. */
const SCRIPT = `export default async ({ mark }) => {
  await platform.db.createMultiple('task', [{ name: mark }, { name: mark }, { name: mark }]);
};`;

export class WriteJournal {
  readonly #school: KilledSchool;
  readonly #entries: Entry[] = [];

  constructor(school: KilledSchool) {
    this.#school = school;
  }

  async prepare(): Promise<void> {
    const query = 'mutation ($script: SaveScriptInput!) { saveScript(script: $script) { version } }';
    const { outcome } = await this.#school.graphql(query, { script: { name: 'several', code: SCRIPT } });
    if (outcome !== 'acknowledged') throw new Error('the script of the campaign was not saved');
  }

  /**
   * Writes one thing after the other until told to stop. What cannot be prepared, because the database is
   * away, is no write.
   */
  async write(name: string, random: Random, stop: AbortSignal): Promise<void> {
    const [first, ...others] = Object.keys(KINDS);
    if (first === undefined) return;
    for (let count = 0; !stop.aborted; count += 1) {
      const kind = KINDS[random.pick([first, ...others])];
      try {
        this.#entries.push(...((await kind?.(this.#school, `${name}-${count}`)) ?? []));
      } catch (error) {
        if (!(error instanceof NotPrepared)) throw error;
      }
    }
  }

  /** Sends again what can be, under its key, where nobody knows what came of it. Then all of it is done. */
  async sendAgain(): Promise<void> {
    for (const [index, entry] of this.#entries.entries()) {
      if (entry.again === undefined) continue;
      this.#entries[index] = { ...entry, outcome: await entry.again() };
    }
  }

  /** How many writes of an outcome there are, all kinds together. */
  count(outcome: Outcome): number {
    return this.#entries.filter((entry) => entry.outcome === outcome).length;
  }

  get kinds(): ReadonlySet<string> {
    return new Set(this.#entries.map(({ kind }) => kind));
  }

  /** What is not as it has to be, a line each. */
  async findFaults(): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const { kind, mark, outcome, pieces, whole } of this.#entries) {
      const { rows } = await this.#school.sql.query<{ pieces: string }>(pieces, [mark]);
      const found = Number(rows[0]?.pieces);
      const allowed = { acknowledged: [whole], refused: [0], unknown: [0, whole] }[outcome];
      if (!allowed.includes(found)) {
        faults.push(`${kind} ${mark}, ${outcome}: ${found} of ${whole} pieces are there`);
      }
      if (outcome === 'refused') faults.push(`${kind} ${mark} was refused`);
    }
    return [...faults, ...(await this.#findFaultsOfReceipts())];
  }

  async #findFaultsOfReceipts(): Promise<readonly string[]> {
    const { sql } = this.#school;
    const { rows: numbers } = await sql.query<{ count: number; last: number; series: number }>(`
      select count(*)::int as count, coalesce(max(substr(data->>'receipt_no', 3)::int), 0) as last,
        coalesce((select last_number::int from receipt_series), 0) as series
      from records
      where collection = 'fee_receipt'`);
    const { rows: months } = await sql.query<{ student: string }>(`
      with kept as (
        select student, sum(paid) as paid from fee_months group by student
      ),
      told as (
        select r.data->'student'->>'value' as student, sum((line->>'amount')::numeric) as paid
        from records r, jsonb_array_elements(r.data->'lines') as line
        where r.collection = 'fee_receipt' and r.data->>'status' = 'active'
        group by 1
      )
      select student
      from kept
      full join told using (student)
      where coalesce(kept.paid, 0) <> coalesce(told.paid, 0)`);
    const [receipts] = numbers;
    const isGapless = receipts?.count === receipts?.last && receipts?.last === receipts?.series;
    return [
      ...(isGapless ? [] : [`the receipts have gaps: ${JSON.stringify(receipts)}`]),
      ...months.map(({ student }) => `what ${student} paid is not what the receipts say`),
    ];
  }
}

class NotPrepared extends Error {}

async function prepared(work: Promise<unknown>): Promise<void> {
  await work.catch((cause: unknown) => {
    throw new NotPrepared('the database is away', { cause });
  });
}

async function insertTasks(school: KilledSchool, mark: string, count: number): Promise<void> {
  await prepared(
    school.sql.query(
      `insert into records (domain, collection, id, data)
       select 'top', 'task', $1 || ':' || n, '{"name": "as it was", "amount": 0}'
         from generate_series(0, $2 - 1) as n`,
      [mark, count],
    ),
  );
}

async function insertStudent(school: KilledSchool, mark: string): Promise<void> {
  const place = { class: '5', section: 'A', session: '2026-27' };
  const due = { fee_head: 'Tuition', month: '2026-04', amount: 100, due_date: '2026-04-10', ...place };
  await prepared(
    school.sql.query(
      `insert into records (domain, collection, id, data)
       values ('top', 'registration', $1, $2::jsonb), ('top', 'fee_due', $1 || ':due', $3::jsonb)`,
      [
        mark,
        JSON.stringify({ sequence: mark, name: mark, status: 'active', ...place }),
        JSON.stringify({ student: { value: mark, label: mark }, ...due }),
      ],
    ),
  );
}

function json(body: object, method = 'POST', headers: Record<string, string> = {}): RequestInit {
  return {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}
