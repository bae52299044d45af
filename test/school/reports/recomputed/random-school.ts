/** A school that people write in at random, through the API: what happens is what a seed says. */

import type { Random } from '../../../../src/school/demo/random.js';
import type { Gateway } from '../../../contract/gateway.js';
import type { GraphqlError } from '../../../contract/graphql.js';
import { addDays, hasEnded, type RawRecord, type RawSchool } from './recompute.js';

const COLLECTIONS = [
  'registration',
  'class',
  'fee_due',
  'fee_concession',
  'fee_receipt',
  'attendance',
  'holiday',
];
const HEADS = ['Tuition', 'Transport'] as const;

export class RandomSchool {
  readonly #gateway: Gateway;
  readonly #random: Random;
  readonly today: string;
  /** Of the session of today, this month among them. */
  readonly months: readonly string[];
  readonly session: string;
  #next = 0;
  /** By student and day: what was marked, so that nobody is marked twice. */
  readonly #marked = new Set<string>();
  /** The removed records that have not come back, by their collections. */
  readonly #removed: { readonly collection: string; readonly record: RawRecord }[] = [];

  constructor(gateway: Gateway, random: Random) {
    this.#gateway = gateway;
    this.#random = random;
    this.today = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Kolkata', dateStyle: 'short' }).format(
      new Date(),
    );
    const [year, month] = [Number(this.today.slice(0, 4)), Number(this.today.slice(5, 7))];
    const start = month >= 4 ? year : year - 1;
    this.session = `${start}-${String((start + 1) % 100).padStart(2, '0')}`;
    const place = (month + 8) % 12;
    this.months = [place - 2, place - 1, place, place + 1]
      .filter((index) => index >= 0 && index < 12)
      .map((index) => new Date(Date.UTC(start, 3 + index, 1)).toISOString().slice(0, 7));
  }

  /** Empties the school of the round before. */
  async begin(): Promise<void> {
    await this.#gateway.sql.query(`delete from records where domain = 'top' and collection <> 'pltf_user'`);
    await this.#gateway.sql.query(`select derive_rows_anew('{top}')`);
    for (const name of ['1', '2']) {
      const sections = ['A', 'B'].map((section) => ({ name: section, capacity: 30 }));
      await this.#create('class', { name, category: 'Primary', order: Number(name), sections });
    }
    for (const [order, name] of HEADS.entries()) await this.#create('fee_head', { name, order });
    for (let count = 0; count < 12; count++) await this.#admit();
    for (let count = 0; count < 24; count++) await this.#askDue();
  }

  /** One thing that somebody does; gives its name. */
  async write(): Promise<string> {
    const [name, act] = this.#random.pick<[string, () => Promise<void>]>([
      ['students admitted', () => this.#admit()],
      ['students changed', () => this.#changeStudent()],
      ['students changed', () => this.#changeStudent()],
      ['students readmitted', () => this.#readmit()],
      ['students removed', () => this.#removeSome('registration', 0.2)],
      ['dues asked', () => this.#askDue()],
      ['dues asked', () => this.#askDue()],
      ['dues asked', () => this.#askDue()],
      ['dues changed', () => this.#changeDue()],
      ['dues removed', () => this.#removeSome('fee_due', 1)],
      ['concessions granted', () => this.#grant()],
      ['concessions revoked', () => this.#revoke()],
      ['receipts', () => this.#receive()],
      ['receipts', () => this.#receive()],
      ['receipts rolled back', () => this.#rollBack()],
      ['marks', () => this.#mark()],
      ['marks', () => this.#mark()],
      ['marks', () => this.#mark()],
      ['marks changed', () => this.#changeMark()],
      ['marks removed', () => this.#removeSome('attendance', 1)],
      ['dues asked together', () => this.#askDuesTogether()],
      ['dues changed together', () => this.#changeDuesTogether()],
      ['dues removed together', () => this.#removeDuesTogether()],
      ['marks made anew together', () => this.#markTogether()],
      ['records brought back', () => this.#bringBack(['fee_due', 'fee_receipt', 'attendance'])],
      ['writes taken back', () => this.#takeBack()],
      ['holidays', () => this.#declareHoliday()],
      ['holidays removed', () => this.#removeSome('holiday', 1)],
    ]);
    await act();
    return name;
  }

  async read(): Promise<RawSchool> {
    const lists = await Promise.all(COLLECTIONS.map(async (name) => [name, await this.#list(name)] as const));
    return Object.fromEntries(lists);
  }

  async report(name: string, parameters: Readonly<Record<string, string>>): Promise<RawRecord> {
    return await this.#send('GET', `/?${new URLSearchParams({ report: name, ...parameters })}`);
  }

  #admit(): Promise<void> {
    const number = ++this.#next;
    return this.#create('registration', {
      ...{ _id: `s${number}`, sequence: `A-${number}`, name: `Student ${number}`, session: this.session },
      ...this.#place(),
      admitted_on: this.#random.isChance(0.15)
        ? addDays(this.today, 1)
        : addDays(this.today, -this.#random.integer(0, 400)),
      status: 'active',
    });
  }

  async #changeStudent(): Promise<void> {
    const student = await this.#one('registration');
    if (!student) return;
    const [, latest = this.today] = [student.admitted_on, this.today].sort();
    const change = this.#random.pick<object>([
      this.#place(),
      this.#place(),
      { status: 'withdrawn' },
      { status: 'active', left_on: null },
      // The day of leaving is the last one on the roll: whether that is counted shows here.
      { status: 'transferred', left_on: latest },
      { status: 'active', left_on: latest },
      {
        status: 'transferred',
        left_on: addDays(
          latest,
          student.admitted_on < addDays(latest, -40) ? -this.#random.integer(1, 40) : 0,
        ),
      },
    ]);
    await this.#send('PATCH', `/o/recs/registration/${student._id}`, change);
  }

  async #readmit(): Promise<void> {
    for (let look = 0; look < 6; look++) {
      const student = await this.#one('registration');
      if (!student || !(student.left_on < this.today)) continue;
      const [back] = [addDays(student.left_on, this.#random.integer(1, 60)), this.today].toSorted();
      const place = this.#random.isChance(0.5) ? this.#place() : {};
      await this.#send('PATCH', `/o/recs/registration/${student._id}`, { ...place, admitted_on: back });
      return;
    }
  }

  async #askDue(): Promise<void> {
    const student = await this.#one('registration');
    if (!student) return;
    const month = this.#pick(this.months);
    await this.#create('fee_due', {
      student: { value: student._id, label: student.name },
      ...{ class: student.class, section: student.section, session: this.session, month },
      fee_head: this.#random.pick(HEADS),
      amount: this.#random.integer(0, 100_000) / 100,
      due_date: `${month}-${this.#random.pick(['05', '10', '28'])}`,
    });
  }

  /** Some that are new, and some that are there with another amount. */
  async #askDuesTogether(): Promise<void> {
    const student = await this.#one('registration');
    const due = await this.#one('fee_due');
    if (!student || !due) return;
    const data = this.months.flatMap((month) =>
      HEADS.map((head) => ({
        _id: `fee_due-${String(++this.#next).padStart(6, '0')}`,
        student: { value: student._id },
        ...{ class: student.class, section: student.section, session: this.session, month, fee_head: head },
        ...{ amount: this.#random.integer(0, 100_000) / 100, due_date: `${month}-10` },
      })),
    );
    const { _version, ...other } = due;
    await this.#mutate(
      'mutation ($data: [JSON!]!) { upsertRecords(collection: "fee_due", data: $data) { count } }',
      { data: [...data, { ...other, amount: this.#random.integer(0, 100_000) / 100 }] },
    );
  }

  async #changeDuesTogether(): Promise<void> {
    const due = await this.#one('fee_due');
    if (!due) return;
    const change = this.#random.pick<object>([
      { increment: { amount: this.#random.integer(1, 500) / 100 } },
      { set: { month: this.#pick(this.months) } },
      { set: { cancelled_on: this.today } },
    ]);
    await this.#mutate(
      `mutation ($oquery: String, $set: JSON, $increment: JSON) {
        updateRecords(collection: "fee_due", oquery: $oquery, set: $set, increment: $increment) { count }
      }`,
      { oquery: `student.value=${due.student.value}`, ...change },
    );
  }

  async #removeDuesTogether(): Promise<void> {
    const due = await this.#one('fee_due');
    if (!due) return;
    await this.#mutate(
      'mutation ($oquery: String) { deleteRecords(collection: "fee_due", oquery: $oquery) { count } }',
      { oquery: `student.value=${due.student.value},month=${due.month}` },
    );
  }

  /** Marks of a day are changed and others added, as a class is marked anew. */
  async #markTogether(): Promise<void> {
    const mark = await this.#one('attendance');
    if (!mark) return;
    const status = () => this.#random.pick(['present', 'absent', 'late', 'half_day', 'leave']);
    const day = addDays(this.today, -this.#random.integer(1, 20));
    const students = (await this.#list('registration')).filter(
      (student) => !this.#marked.has(`${student._id} ${day}`),
    );
    const made = students.slice(0, 5).map((student) => {
      this.#marked.add(`${student._id} ${day}`);
      return {
        ...{ _id: `m-${student._id}-${day}`, created: `${day}T04:00:00.000Z`, status: status() },
        ...{ class: student.class, section: student.section, student: { value: student._id } },
      };
    });
    const { _version, ...other } = mark;
    await this.#mutate(
      'mutation ($data: [JSON!]!) { upsertRecords(collection: "attendance", data: $data) { count } }',
      { data: [...made, { ...other, status: status() }] },
    );
  }

  /** A record whose student is there as it was at first. */
  async #bringBack(collections: readonly string[]): Promise<void> {
    const present = await this.#present();
    const index = this.#removed.findIndex(
      ({ collection, record }) => collections.includes(collection) && present.has(record.student.value),
    );
    const [gone] = index < 0 ? [] : this.#removed.splice(index, 1);
    if (!gone) return;
    await this.#send('POST', `/o/recs/${gone.collection}/${gone.record._id}/restore`, { version: 1 });
  }

  /** Dues are removed together, and that is undone. */
  async #takeBack(): Promise<void> {
    const present = await this.#present();
    const due = await this.#one('fee_due', (one) => present.has(one.student.value));
    if (!due) return;
    const answer = await this.#gateway.fetch('/graphql', {
      method: 'POST',
      as: 'admin',
      body: JSON.stringify({
        query:
          'mutation ($oquery: String) { deleteRecords(collection: "fee_due", oquery: $oquery) { count } }',
        variables: { oquery: `student.value=${due.student.value}` },
      }),
      headers: { 'content-type': 'application/json' },
    });
    const requestId = answer.headers.get('x-request-id');
    const { errors } = JSON.parse(await answer.text());
    if (errors) throw new Error(JSON.stringify(errors));
    await this.#mutate(
      'mutation ($requestId: String!) { undoChange(requestId: $requestId) { broughtBack } }',
      {
        requestId,
      },
    );
  }

  async #changeDue(): Promise<void> {
    const due = await this.#one('fee_due');
    if (!due) return;
    const change = this.#random.pick<object>([
      { amount: this.#random.integer(0, 100_000) / 100 },
      { cancelled_on: addDays(this.today, this.#random.integer(-3, 3)) },
      { month: this.#pick(this.months) },
    ]);
    await this.#send('PATCH', `/o/recs/fee_due/${due._id}`, change);
  }

  async #grant(): Promise<void> {
    const student = await this.#one('registration');
    if (!student) return;
    const [from = '', to = ''] = [this.#pick(this.months), this.#pick(this.months)].sort();
    await this.#create('fee_concession', {
      name: { value: student._id, label: student.name },
      ...(this.#random.isChance(0.5) && { fee_head: this.#random.pick(HEADS) }),
      ...(this.#random.isChance(0.5)
        ? { kind: 'percent', value: this.#random.integer(1, 10_000) / 100 }
        : { kind: 'amount', value: this.#random.integer(1, 50_000) / 100 }),
      ...{ session: this.session, from_month: from, to_month: to },
    });
  }

  async #revoke(): Promise<void> {
    const concession = await this.#one('fee_concession');
    if (!concession) return;
    const revoked = addDays(this.today, this.#random.integer(-1, 1));
    await this.#send('PATCH', `/o/recs/fee_concession/${concession._id}`, { revoked_on: revoked });
  }

  /**
   * Money of a student who is there, for dues the student has, none of them after the month of leaving: other
   * receipts are refused.
   */
  async #receive(): Promise<void> {
    const registration = await this.#list('registration');
    const isOwed = (due: RawRecord) =>
      due.cancelled_on === undefined &&
      registration.some(({ _id }) => _id === due.student.value) &&
      !hasEnded(due, { registration }, this.today);
    const due = await this.#one('fee_due', isOwed);
    if (!due) return;
    const dues = (await this.#list('fee_due')).filter(
      (one) => one.student.value === due.student.value && isOwed(one),
    );
    const places = new Map(dues.map((one) => [`${one.month} ${one.fee_head}`, one]));
    const lines = this.#random
      .shuffle([...places.values()])
      .slice(0, this.#random.integer(1, 3))
      .map((one) => ({
        ...{ feeHead: one.fee_head, month: one.month },
        amount: (this.#random.integer(1, 80_000) / 100).toFixed(2),
        ...(this.#random.isChance(0.2) && { fine: '10.00' }),
      }));
    const paymentType = this.#random.pick(['CASH', 'CHEQUE', 'CARD', 'NEFT']);
    await this.#mutate(
      'mutation ($receipt: RecordReceiptInput!) { recordReceipt(receipt: $receipt) { receiptNo } }',
      {
        receipt: {
          studentId: due.student.value,
          paymentType,
          lines,
          ...(paymentType !== 'CASH' && { instrumentNo: '1' }),
        },
      },
    );
  }

  async #rollBack(): Promise<void> {
    const receipt = await this.#one('fee_receipt', ({ status }) => status === 'active');
    if (!receipt) return;
    await this.#mutate(
      'mutation ($rollback: RollBackReceiptInput!) { rollBackReceipt(rollback: $rollback) { receiptNo } }',
      { rollback: { receiptNo: receipt.receipt_no, reason: 'returned', type: 'BOUNCE' } },
    );
  }

  async #mark(): Promise<void> {
    const student = await this.#one('registration');
    if (!student) return;
    const day = addDays(this.today, -this.#random.integer(1, 20));
    const key = `${student._id} ${day}`;
    if (this.#marked.has(key)) return;
    this.#marked.add(key);
    await this.#create('attendance', {
      ...{
        _id: `m-${student._id}-${day}`,
        created: `${day}T04:00:00.000Z`,
        class: student.class,
        section: student.section,
      },
      student: { value: student._id, label: student.name },
      status: this.#random.pick(['present', 'present', 'absent', 'late', 'half_day', 'leave']),
    });
  }

  async #changeMark(): Promise<void> {
    const mark = await this.#one('attendance');
    if (!mark) return;
    const status = this.#random.pick(['present', 'absent', 'late', 'half_day', 'leave']);
    await this.#send('PATCH', `/o/recs/attendance/${mark._id}`, { status });
  }

  #declareHoliday(): Promise<void> {
    return this.#create('holiday', {
      date: addDays(this.today, -this.#random.integer(0, 20)),
      name: `Holiday ${++this.#next}`,
      classes: this.#random.pick([[], ['1'], ['2']]),
      working: this.#random.isChance(0.3),
    });
  }

  async #removeSome(collection: string, chance: number): Promise<void> {
    const record = this.#random.isChance(chance) ? await this.#one(collection) : undefined;
    if (!record) return;
    await this.#send('DELETE', `/o/recs/${collection}/${record._id}`);
    this.#removed.push({ collection, record });
  }

  #place() {
    return { class: this.#random.pick(['1', '2']), section: this.#random.pick(['A', 'B']) };
  }

  async #one(
    collection: string,
    is: (record: RawRecord) => boolean = () => true,
  ): Promise<RawRecord | undefined> {
    const found = (await this.#list(collection)).filter(is);
    return found.length === 0 ? undefined : this.#pick(found);
  }

  /** In the order of their names, so that a seed picks the same. */
  async #list(collection: string): Promise<readonly RawRecord[]> {
    const records = await this.#send('GET', `/o/recs/${collection}?stream=true`);
    if (!Array.isArray(records)) throw new Error(`${collection} is read as a list`);
    return records.sort((a: RawRecord, b: RawRecord) => orderOf(a).localeCompare(orderOf(b)));
  }

  async #present(): Promise<ReadonlySet<string>> {
    return new Set((await this.#list('registration')).map(({ _id }) => _id));
  }

  #pick<T>(values: readonly T[]): T {
    const picked = values[this.#random.integer(0, values.length - 1)];
    if (picked === undefined) throw new Error('there is something to pick');
    return picked;
  }

  async #create(collection: string, record: object): Promise<void> {
    const id = `${collection}-${String(++this.#next).padStart(6, '0')}`;
    await this.#send('POST', `/o/${collection}`, { _id: id, ...record });
  }

  async #mutate(query: string, variables: object): Promise<void> {
    const { errors } = await this.#send('POST', '/graphql', { query, variables });
    if (errors && !isTaken(errors)) throw new Error(JSON.stringify(errors));
  }

  async #send(method: string, path: string, body?: object): Promise<RawRecord> {
    const answer = await this.#gateway.fetch(path, {
      method,
      as: 'admin',
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    // A demand of a student, month and head exists once.
    if (answer.status === 409) return { _id: '' };
    if (!answer.ok) throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${text}`);
    return text === '' ? { _id: '' } : JSON.parse(text);
  }
}

/** Receipts are named by the gateway: by their number. */
function orderOf({ _id, receipt_no: number }: RawRecord): string {
  return number === undefined ? _id : String(number).padStart(12, '0');
}

/** A demand exists once, and a line pays no more than is owed. */
function isTaken(errors: readonly GraphqlError[]): boolean {
  return errors.every(
    ({ message, extensions }) => extensions.code === 'CONFLICT' || message.includes('the student owes'),
  );
}
