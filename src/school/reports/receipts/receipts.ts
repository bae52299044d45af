/**
 * Receipts: recorded once, numbered without gaps within a series, and rolled back at most once; never edited
 * or deleted. Only these two operations write `fee_receipt`; its declaration allows nobody else.
 *
 * @see reports "Collections"
 */
import { Decimal } from 'decimal.js';
import { faultAt, invalidAt, invariant, ServiceError } from '../../../base/errors.js';
import {
  defined,
  ExactNumber,
  isExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  printExactJson,
} from '../../../base/json/json.js';
import { dayOf, isDay } from '../../../base/model/calendar.js';
import { foldText, toNormalText } from '../../../base/model/normal-text.js';
import type { Domain, Principal, Scope } from '../../../base/model/scope.js';
import {
  BOOKS_CLOSED_UNTIL,
  DEFAULT_SERIES,
  RECEIPT_SERIES,
  RECEIPT_SERIES_WORDS,
} from '../../../store/catalog/known-properties.js';
import { FairQueue } from '../../../store/database/fair-queue.js';
import type { Transaction } from '../../../store/database/queryable.js';
import {
  liveRecordsById,
  liveRecordsIn,
  liveRecordsNamed,
  recordsIn,
} from '../../../store/sql/records-of.js';
import { type Sql, sql } from '../../../store/sql.js';
import { inSnakeCase, type RowClass } from '../engine/columns.js';
import { type Day, isReportDay } from '../engine/parameter-types.js';
import type { ReportServices } from '../engine/report-context.js';
import { sessionOf, todayIn } from '../engine/school-calendar.js';
import { schoolSettings } from '../engine/school-settings.js';
import { stayOn } from '../shared/roll.js';
import {
  Receipt,
  type ReceiptLineInput,
  type RecordReceiptInput,
  type RollBackReceiptInput,
} from './receipt.js';
import { listStudentDues, type StudentDue } from './student-dues.js';

/** The roles that may record and roll back receipts. */
const ROLES: readonly string[] = ['accountant', 'admin'];
const MOST_LINES = 200;

type Services = Pick<ReportServices, 'database' | 'store' | 'domains' | 'now'>;

export interface ReceiptOptions {
  readonly idempotencyKey?: string | undefined;
  /** The transaction to join. Default: a new one. */
  readonly within?: Transaction | undefined;
}

interface Line {
  readonly feeHead: string;
  readonly month: string;
  readonly amount: Decimal;
  readonly fine: Decimal;
}

/** The condition for looking up receipts. @see liveRecordsNamed */
interface Place {
  readonly domain: string;
  readonly isRouted: boolean;
}

interface Student {
  readonly id: string;
  readonly name: string | null;
  readonly class: string | null;
  readonly section: string | null;
  /** The first day of the first stay. */
  readonly admittedOn: string | null;
}

export class Receipts {
  readonly #services: Services;
  /**
   * Queues by domain and series: the row of a series is locked until a receipt is stored, so more than a few
   * concurrent receipts would only wait.
   */
  readonly #line = new FairQueue({
    perCaller: 4,
    waitingPerCaller: 200,
    waitMs: 10_000,
    refusal: 'Too many receipts of this series are being written',
  });

  constructor(services: Services) {
    this.#services = services;
  }

  /**
   * Records a receipt in one transaction: its lines (or its amount, allocated to open dues, the oldest due
   * date first), their total, and the next number of its series. Cashiers of one series wait for each other;
   * a receipt that fails uses no number.
   *
   * @throws FORBIDDEN; NOT_FOUND for the student; INVALID_VALUE for a line without a due, an amount that is
   *   not above 0, or more than is owed, in all or of a due; a day before the admission, or of closed books;
   *   a cheque without its number
   */
  record(scope: Scope, input: RecordReceiptInput, options: ReceiptOptions = {}): Promise<Receipt> {
    const writer = writerOf(scope, 'create');
    const request = printExactJson({ recordReceipt: defined(input) as JsonObject });
    const store = () => this.#once(scope, options, request, (tx) => this.#record(writer, input, tx));
    // A transaction already has its connection.
    if (options.within) return store();
    const series = input.series ?? this.#defaultSeries(scope.domain.id);
    return this.#line.run(JSON.stringify([scope.domain.id, foldText(series)]), store, scope.call);
  }

  /**
   * Rolls a receipt back, once: it remains, with who, when and why; its number is not used again.
   *
   * @throws FORBIDDEN; NOT_FOUND; CONFLICT if it was rolled back before; INVALID_VALUE without a reason
   */
  rollBack(scope: Scope, input: RollBackReceiptInput, options: ReceiptOptions = {}): Promise<Receipt> {
    const writer = writerOf(scope, 'update');
    const request = printExactJson({ rollBackReceipt: defined(input) as JsonObject });
    return this.#once(scope, options, request, (tx) => this.#rollBack(writer, input, tx));
  }

  /** Whether the caller may record receipts and roll them back. */
  mayRecord({ principal }: Scope): boolean {
    const verbs = receiptVerbsOf(principal);
    return isCashier(principal) && (!verbs || (verbs.includes('create') && verbs.includes('update')));
  }

  /**
   * The open dues of a student, the oldest first; with `all` also those that are paid.
   *
   * @throws FORBIDDEN unless the caller may record receipts; NOT_FOUND for an unknown student
   */
  async dues(
    scope: Scope,
    studentId: string,
    which: 'open' | 'all' = 'open',
  ): Promise<readonly StudentDue[]> {
    writerOf(scope, 'create');
    const { database, now } = this.#services;
    const { domain } = scope;
    const today = todayIn(domain.timeZone, now());
    const reader = database.reading(scope);
    const dues = await listStudentDues(reader, { domain, studentId, today });
    if (dues.length === 0) {
      const student = liveRecordsById(domain.id, 'registration', sql`= ${studentId}`);
      if ((await reader.query(sql`select from records r where ${student}`)).length === 0)
        throw noSuchStudent(studentId);
    }
    return which === 'all' ? dues : dues.filter(({ open }) => Number(open) > 0);
  }

  async #once(
    scope: Scope,
    { idempotencyKey, within }: ReceiptOptions,
    request: string,
    work: (tx: Transaction) => Promise<JsonObject>,
  ): Promise<Receipt> {
    const { store } = this.#services;
    const atomic = { writes: ['fee_receipt'], within };
    const stored = await store.idempotently<JsonObject>(
      scope,
      { key: idempotencyKey, text: request, ...atomic },
      (tx) => (tx ? work(tx) : store.atomically(scope, atomic, work)),
    );
    return toReceipt(stored);
  }

  async #record(scope: Scope, input: RecordReceiptInput, tx: Transaction): Promise<JsonObject> {
    const { domain } = scope;
    const now = this.#services.now();
    // A day alone is an instant, too: its first in UTC.
    const date = (input.date ? new Date(input.date) : now).toISOString();
    if (date > now.toISOString())
      throw invalid('date', `is ${date}, in the future`, 'an instant that has been');
    const day = dayOf(date, domain.timeZone);
    if (!isReportDay(day)) throw invalid('date', `is ${date}`, 'an instant from the year 1900 on');
    assertOpenBooks(domain, day, 'date');
    const series = toNormalText(input.series ?? this.#defaultSeries(domain.id));
    if (!RECEIPT_SERIES.test(series))
      throw invalid('series', `is ${JSON.stringify(series)}`, RECEIPT_SERIES_WORDS);
    const student = await getStudent(tx, domain.id, { studentId: input.studentId, day });
    const { admittedOn } = student;
    // Without `date` the money is received now: a student who is admitted next week may pay today.
    if (input.date && admittedOn !== null && isDay(admittedOn) && day < admittedOn) {
      const fault = `is ${date}, before the student was admitted (${admittedOn})`;
      throw invalid('date', fault, `a day from ${admittedOn} on`);
    }
    if (input.paymentType === 'cheque' && toNormalText(input.instrumentNo ?? '') === '')
      throw invalid('instrumentNo', 'is missing', 'the number of the cheque');
    const dues = await listStudentDues(tx, {
      domain,
      studentId: student.id,
      today: todayIn(domain.timeZone, now),
    });
    const lines = linesOf(input, dues);
    const place = this.#placeOf(scope);
    const replaces = input.replaces && (await findRolledBack(tx, place, [input.replaces, student.id]));
    const total = lines.reduce((sum, line) => sum.plus(line.amount).plus(line.fine), new Decimal(0));
    // The last lock to be taken, because little work follows it.
    const receiptNo = await takeNumber(tx, place, await spelledSeries(tx, place, series));
    const [stored] = await this.#services.store.create(
      scope,
      'fee_receipt',
      [
        {
          receipt_no: receiptNo,
          date,
          student: { value: student.id, label: student.name },
          class: student.class,
          section: student.section,
          session: sessionOf(day, this.#sessionFirstMonth(domain.id)),
          payment_type: input.paymentType,
          ...(input.instrumentNo ? { instrument_no: input.instrumentNo } : {}),
          ...(input.instrumentBank ? { instrument_bank: input.instrumentBank } : {}),
          ...(input.instrumentDate ? { instrument_date: input.instrumentDate } : {}),
          lines: lines.map((line) => ({
            fee_head: line.feeHead,
            month: line.month,
            amount: exact(line.amount),
            ...(line.fine.isZero() ? {} : { fine: exact(line.fine) }),
          })),
          total: exact(total),
          collected_by: await cashierOf(scope, tx),
          status: 'active',
          ...(replaces ? { replaces } : {}),
        },
      ],
      { within: tx },
    );
    invariant(stored, 'a receipt is stored');
    return parseRecord(stored.json);
  }

  async #rollBack(scope: Scope, input: RollBackReceiptInput, tx: Transaction): Promise<JsonObject> {
    const reason = toNormalText(input.reason);
    if (reason === '') throw invalid('reason', 'is empty', 'why the receipt is rolled back');
    const receipt = await getReceipt(tx, this.#placeOf(scope), input.receiptNo);
    const { domain } = scope;
    assertOpenBooks(domain, dayOf(receipt.date, domain.timeZone), 'receiptNo');
    if (receipt.status !== 'active') {
      throw new ServiceError(
        'CONFLICT',
        `Receipt ${input.receiptNo} was rolled back on ${receipt.rolledBackOn ?? 'an unknown day'}; ` +
          'a receipt is rolled back once.',
      );
    }
    const stored = await this.#services.store.update(scope, 'fee_receipt', receipt.id, {
      mode: 'merge',
      within: tx,
      data: {
        status: 'rolled_back',
        rolled_back_on: this.#services.now().toISOString(),
        rolled_back_by: await cashierOf(scope, tx),
        rollback_reason: reason,
        rollback_type: input.type,
      },
    });
    return parseRecord(stored.json);
  }

  #placeOf({ domain }: Scope): Place {
    return { domain: domain.id, isRouted: this.#services.database.shards !== undefined };
  }

  #sessionFirstMonth(domainId: string): number {
    return schoolSettings((name) => this.#services.domains.property(domainId, name)).sessionFirstMonth;
  }

  #defaultSeries(domainId: string): string {
    const property = this.#services.domains.property(domainId, 'receiptSeries');
    return typeof property === 'string' ? property : DEFAULT_SERIES;
  }
}

/**
 * The caller with the right to write receipts: the collection's declaration allows only the role `system`.
 * Audit entries still name the caller.
 *
 * @throws FORBIDDEN unless the caller is an accountant or an admin, by a key that may write receipts
 */
function writerOf(scope: Scope, verb: 'create' | 'update'): Scope {
  const { principal } = scope;
  if (!isCashier(principal)) {
    throw new ServiceError('FORBIDDEN', `Receipts are written by the roles ${ROLES.join(', ')}.`);
  }
  const verbs = receiptVerbsOf(principal);
  if (verbs && !verbs.includes(verb)) {
    throw new ServiceError('FORBIDDEN', `This API key may not ${verb} records of fee_receipt.`);
  }
  return { ...scope, principal: { ...principal, roles: new Set(['system']), scopes: undefined } };
}

function isCashier({ roles }: Principal): boolean {
  return ROLES.some((role) => roles.has(role));
}

/** `undefined` for a credential without scopes. */
function receiptVerbsOf({ scopes }: Principal): readonly string[] | undefined {
  return scopes && (scopes.collections.fee_receipt ?? scopes.collections['*'] ?? []);
}

/**
 * The student in the class of a day. Locks the record, so that two payments of one student are allocated one
 * after the other.
 */
async function getStudent(
  tx: Transaction,
  domain: string,
  { studentId, day }: { readonly studentId: string; readonly day: Day },
): Promise<Student> {
  const [student] = await tx.query<Student>(sql`
select r.id, r.data->>'name' as name, stay.data->>'class' as class, stay.data->>'section' as section,
  least(r.data->>'admitted_on', (
    select min(first #>> '{}') from jsonb_path_query(r.data, '$.earlier_stays[*].from') as first
  )) as "admittedOn"
from records r
cross join lateral (select ${stayOn(day)} as data) as stay
where ${liveRecordsById(domain, 'registration', sql`= ${studentId}`)}
for no key update of r`);
  if (student) return student;
  throw noSuchStudent(studentId);
}

function noSuchStudent(studentId: string): ServiceError {
  const detail = `There is no student with the _id ${JSON.stringify(studentId)}.`;
  return faultAt('NOT_FOUND', detail, { parameter: 'studentId', sent: studentId });
}

/** The caller with the name of today, which a printed receipt shows. */
async function cashierOf({ domain, principal: { id } }: Scope, tx: Transaction): Promise<JsonObject> {
  const [cashier] = await tx.query<{ label: string | null }>(sql`
select r.data->>'name' as label from records r
where ${liveRecordsById(domain.id, 'pltf_user', sql`= ${id}`)}`);
  return { value: id, ...(cashier?.label && { label: cashier.label }) };
}

interface ReceiptState {
  readonly id: string;
  readonly receiptNo: string;
  readonly status: string;
  readonly rolledBackOn: string | null;
  readonly date: string;
  readonly student: string | null;
}

async function getReceipt(tx: Transaction, place: Place, receiptNo: string): Promise<ReceiptState> {
  const [receipt] = await tx.query<ReceiptState>(sql`
select r.id, r.data->>'receipt_no' as "receiptNo", r.data->>'status' as status,
  r.data->>'rolled_back_on' as "rolledBackOn", r.data->>'date' as date,
  r.data#>>'{student,value}' as student
from records r
where ${liveRecordsNamed(place, 'fee_receipt', { field: 'receipt_no', text: receiptNo })}
for no key update`);
  if (receipt) return receipt;
  const detail = `There is no receipt ${JSON.stringify(receiptNo)}.`;
  throw faultAt('NOT_FOUND', detail, { parameter: 'receiptNo', sent: receiptNo });
}

/**
 * The number of a rolled-back receipt of the student, as it is stored, which no receipt in force replaces.
 * The lock of `getReceipt` makes a second replacement wait for the first.
 */
async function findRolledBack(
  tx: Transaction,
  place: Place,
  [sent, studentId]: readonly [string, string],
): Promise<string> {
  const { receiptNo, status, student } = await getReceipt(tx, place, sent);
  const [replacing] = await tx.query<{ receiptNo: string }>(sql`
select r.data->>'receipt_no' as "receiptNo" from records r
where ${liveRecordsIn(place.domain, 'fee_receipt')}
  and r.data->'replaces' = ${JSON.stringify(receiptNo)}::jsonb and r.data->>'status' = 'active'`);
  if (status === 'rolled_back' && student === studentId && !replacing) return receiptNo;
  let fault = 'which is not rolled back';
  if (status === 'rolled_back')
    fault =
      student === studentId ? `which ${replacing?.receiptNo} replaces` : 'which another student has paid';
  const expected = 'the number of a rolled-back receipt of the student';
  throw invalid('replaces', `is ${receiptNo}, ${fault}`, expected);
}

/** The series as the numbers before this one spell it: two that differ in case alone are one. */
async function spelledSeries(tx: Transaction, { domain }: Place, series: string): Promise<string> {
  const [known] = await tx.query<{ series: string }>(sql`
select coalesce(
  (
    select s.series from receipt_series s
    where s.domain = ${domain} and lower(s.series) = lower(${series})
    order by s.series = ${series} desc, s.last_number desc
    limit 1
  ),
  (
    select left(r.data->>'receipt_no', length(${series}::text)) from records r
    where ${recordsIn(domain, 'fee_receipt')} and ${isOfSeries(series)}
    limit 1
  ),
  ${series}
) as series`);
  return known?.series ?? series;
}

function isOfSeries(series: string): Sql {
  return sql`starts_with(lower(r.data->>'receipt_no'), lower(${series}::text))
    and substr(r.data->>'receipt_no', length(${series}::text) + 1) ~ '^\\d{1,18}$'`;
}

/**
 * The next number of a series. Its row stays locked until the end of the transaction, so that a receipt that
 * fails leaves no gap.
 */
async function takeNumber(tx: Transaction, place: Place, series: string): Promise<string> {
  const { domain } = place;
  // May wait for another cashier; the following statements must see what that one stored.
  const [last] = await tx.query<{ number: string }>(sql`
insert into receipt_series as s (domain, series, last_number) values (${domain}, ${series}, 0)
on conflict (domain, series) do update set last_number = s.last_number
returning s.last_number::text as number`);
  invariant(last, 'the series has a row');
  const next = (BigInt(last.number) + 1n).toString();
  const ofSeries = sql`s.domain = ${domain} and s.series = ${series}`;
  const numbered = liveRecordsNamed(place, 'fee_receipt', { field: 'receipt_no', text: series + next });
  const isTaken = sql`select count(*) > 0 from records r where ${numbered}`;
  const taken = await tx.query(sql`
update receipt_series s set last_number = ${next}::bigint
where ${ofSeries} and s.last_number > 0
  and not (${isTaken})
returning 1`);
  if (taken.length > 0) return series + next;
  // For a series that was imported or used before: continues after its greatest number.
  const [free] = await tx.query<{ number: string }>(sql`
select
  (1 + coalesce(max(substr(r.data->>'receipt_no', length(${series}::text) + 1)::numeric), 0))::text as number
from records r
where ${recordsIn(domain, 'fee_receipt')} and ${isOfSeries(series)}`);
  invariant(free, 'there is a greatest number, or none');
  await tx.query(sql`update receipt_series s set last_number = ${free.number}::bigint where ${ofSeries}`);
  return series + free.number;
}

function linesOf(input: RecordReceiptInput, dues: readonly StudentDue[]): readonly Line[] {
  const { amount, lines } = input;
  if (amount && !lines) return allocate(money('amount', amount), dues);
  if (lines && !amount) return checkLines(lines, dues);
  throw invalid(
    'amount',
    amount ? 'does not go with lines' : 'is missing, and so are lines',
    'either amount or lines',
  );
}

function allocate(amount: Decimal, dues: readonly StudentDue[]): readonly Line[] {
  let rest = amount;
  const lines = dues.flatMap(({ feeHead, month, open }): Line[] => {
    const part = Decimal.min(rest, open);
    rest = rest.minus(part);
    return part.isZero() ? [] : [{ feeHead, month, amount: part, fine: new Decimal(0) }];
  });
  if (rest.isZero()) return lines;
  const owed = amount.minus(rest).toFixed(2);
  throw invalid('amount', `is ${amount.toFixed(2)}, and the student owes ${owed}`, `at most ${owed}`);
}

function checkLines(lines: readonly ReceiptLineInput[], dues: readonly StudentDue[]): readonly Line[] {
  if (lines.length === 0 || lines.length > MOST_LINES)
    throw invalid('lines', `are ${lines.length}`, `1 to ${MOST_LINES} lines`);
  const openOf = new Map(
    dues.map(({ feeHead, month, open }) => [keyOfDue(feeHead, month), new Decimal(open)]),
  );
  return lines.map(({ feeHead, month, amount, fine }, index) => {
    const name = `lines[${index}]`;
    const key = keyOfDue(feeHead, month);
    const open = openOf.get(key);
    if (open === undefined) {
      throw invalid(
        `${name}.feeHead`,
        `is ${feeHead} of ${month}, of which the student has no due`,
        'a fee head and month with a due',
      );
    }
    const finePaid = fine ? money(`${name}.fine`, fine, 'from 0') : new Decimal(0);
    const paid = money(`${name}.amount`, amount, finePaid.isZero() ? 'above 0' : 'from 0');
    if (paid.greaterThan(open)) {
      const owed = `${open.toFixed(2)} of ${feeHead} of ${month}`;
      throw invalid(
        `${name}.amount`,
        `is ${paid.toFixed(2)}, and the student owes ${owed}`,
        `at most ${open.toFixed(2)}`,
      );
    }
    openOf.set(key, open.minus(paid));
    return { feeHead, month, amount: paid, fine: finePaid };
  });
}

function keyOfDue(feeHead: string, month: string): string {
  return JSON.stringify([foldText(feeHead), month]);
}

/** @throws INVALID_VALUE for a day in books that are closed; an admin of the school may open them again */
function assertOpenBooks({ booksClosedUntil }: Domain, day: string, parameter: string): void {
  if (booksClosedUntil === undefined || day > booksClosedUntil) return;
  throw invalid(
    parameter,
    `is of ${day}, and the books are closed until ${booksClosedUntil} (property ${BOOKS_CLOSED_UNTIL})`,
    'a day after that',
  );
}

function money(name: string, sent: ExactNumber, least: 'above 0' | 'from 0' = 'above 0'): Decimal {
  const value = new Decimal(sent.toString());
  const isLarge = least === 'above 0' ? value.gt(0) : value.gte(0);
  if (isLarge && value.decimalPlaces() <= 2 && value.lt(1e12)) return value;
  throw invalid(name, `is ${sent}`, `an amount ${least}, of at most two decimal places`);
}

function invalid(parameter: string, fault: string, expected: string): ServiceError {
  const detail = `${parameter} ${fault}`;
  return invalidAt(`${detail}; expected ${expected}.`, { parameter, detail, expected });
}

function exact(value: Decimal): ExactNumber {
  return new ExactNumber(value.toFixed(2));
}

function parseRecord(json: string): JsonObject {
  const record = parseExactJson(json);
  invariant(isJsonObject(record), 'a record is an object');
  return record;
}

function toReceipt(record: JsonObject): Receipt {
  const student = isJsonObject(record.student) ? record.student : {};
  const named = { ...record, id: record._id ?? null, studentId: student.value ?? null };
  return fromRecord(Receipt, { ...named, student: student.label ?? null }) as Receipt;
}

/** The members of a record as the values of a row: `receipt_no` is `receiptNo`. */
function fromRecord({ columns }: RowClass, record: JsonObject): object {
  const values = columns.map(({ name, type, rowClass, isNullable }) => {
    const value = record[name] ?? record[inSnakeCase(name)];
    if (rowClass)
      return [
        name,
        [value ?? []]
          .flat()
          .filter(isJsonObject)
          .map((one) => fromRecord(rowClass, one)),
      ];
    if (type === 'money') return [name, amountOf(value)];
    const missing = isNullable ? null : '';
    return [name, typeof value === 'string' ? value : missing];
  });
  return Object.fromEntries(values);
}

function amountOf(value: JsonValue | undefined): ExactNumber {
  const digits = isExactNumber(value) ? value.toString() : String(value ?? 0);
  return new ExactNumber(new Decimal(digits).toFixed(2));
}
