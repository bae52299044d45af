/** Records of the text messages the demo school sent: absences, notices, fee reminders. */
import { ATTENDANCE_MARKS } from './attendance-marks.js';
import { type DemoRecord, demoRecord } from './demo-record.js';
import type { SessionYear } from './demo-school.js';
import type { Enrolment } from './enrolment.js';
import { clock, dayOfMonth, dayText, type EpochDay, instantText, weekday } from './epoch-day.js';
import { Random } from './random.js';
import { listEpochDays } from './session-calendar.js';

interface PlannedMessage {
  readonly enrolment: Enrolment;
  readonly day: EpochDay;
  readonly second: number;
  readonly text: string;
  readonly template: string;
  readonly category: 'fee' | 'absence' | 'notice' | 'other';
}

/**
 * Siblings share a number, so a notice reaches it once for each of them; a message that failed is sent again.
 */
export function* smsRecords(year: SessionYear): Iterable<DemoRecord> {
  const { school, calendar } = year;
  let count = 0;
  for (const day of listEpochDays(calendar.start, year.lastDay)) {
    const random = new Random(school.moment.seed, school.plan.domainId, 'sms', day);
    for (const message of messagesOf(day, year)) {
      const hasFailed = random.isChance(0.04);
      yield messageRecord(message, { year, random, count: ++count, hasFailed });
      if (hasFailed && random.isChance(0.6)) {
        const again = { ...message, second: message.second + 1800 };
        yield messageRecord(again, { year, random, count: ++count, hasFailed: random.isChance(0.3) });
      }
    }
  }
}

function* messagesOf(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  yield* absenceMessages(day, year);
  yield* noticeMessages(day, year);
  yield* reminderMessages(day, year);
}

function* absenceMessages(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  const { plan } = year.school;
  let place = 0;
  for (const { enrolment, marks } of year.attendance) {
    if (ATTENDANCE_MARKS[marks[day - year.calendar.start] ?? 0] !== 'absent') continue;
    const { student, klass } = enrolment;
    const text =
      `Dear parent, ${student.name} of class ${klass.name} ${enrolment.sectionOn(day).name} is absent ` +
      `today, ${dayText(day)}. - ${plan.shortName}`;
    const second = clock(10, 15) + Math.floor(place++ / 4);
    yield { enrolment, day, second, text, template: 'absence-v1', category: 'absence' };
  }
}

/** Every Friday to a quarter of the classes; before Independence Day and Diwali, in Hindi, to all. */
function* noticeMessages(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  const { calendar, school } = year;
  const tomorrow = calendar.holidays.find((holiday) => holiday.day === day + 1)?.name;
  const greeting = GREETINGS.find(({ before }) => before === tomorrow);
  const isFirstDayOf = calendar.holidays.find((holiday) => holiday.day === day)?.name !== tomorrow;
  const isFriday = weekday(day) === 5 && calendar.workingDays('').includes(day);
  const week = Math.floor(day / 7);
  let place = 0;
  for (const enrolment of year.enrolments) {
    if (day < enrolment.from || day > enrolment.to) continue;
    const second = clock(15, 0) + Math.floor(place++ / 10);
    const common = { enrolment, day, second, category: 'notice' } as const;
    if (greeting && isFirstDayOf) {
      yield { ...common, text: `${greeting.text} - ${school.plan.shortName}`, template: 'greeting-hi' };
    } else if (isFriday && enrolment.klass.index % 4 === week % 4) {
      const text = NOTICES[week % NOTICES.length] ?? NOTICES[0];
      yield { ...common, text: `Dear parent, ${text} - ${school.plan.shortName}`, template: 'notice-v2' };
    }
  }
}

/** Reminds those whose dues are open, on the 12th and the 25th. */
function* reminderMessages(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  if (![12, 25].includes(dayOfMonth(day))) return;
  let place = 0;
  for (const ledger of year.ledgers) {
    const { enrolment } = ledger;
    if (day < enrolment.from || day > enrolment.to) continue;
    const overdue = ledger.overdueOn(day);
    if (overdue === 0) continue;
    const text =
      `Dear parent, fees of Rs. ${(overdue / 100).toFixed(2)} for ${enrolment.student.name} ` +
      `(${enrolment.student.sequence}) are overdue. Please pay at the office or by NEFT; kindly ignore ` +
      `if paid. - ${year.school.plan.shortName}`;
    const second = clock(16, 30) + Math.floor(place++ / 8);
    yield { enrolment, day, second, text, template: 'fee-reminder-v3', category: 'fee' };
  }
}

const GREETINGS = [
  {
    before: 'Independence Day',
    text: 'प्रिय अभिभावक, स्वतंत्रता दिवस समारोह कल प्रातः 7:30 बजे विद्यालय प्रांगण में है। आप सादर आमंत्रित हैं।',
  },
  {
    before: 'Diwali vacation',
    text: 'प्रिय अभिभावक, विद्यालय परिवार की ओर से दीपावली की हार्दिक शुभकामनाएँ।',
  },
] as const;

const NOTICES = [
  'the parent-teacher meeting is on Saturday from 9 am to 12 noon. Please bring the diary.',
  'the unit test begins on Monday. The syllabus is in the diary of your ward.',
  'please send the consent form for the educational trip by Tuesday.',
  'winter uniform is compulsory from next week.',
  'the annual sports day is next Saturday at 8 am on the school ground. All students take part; ' +
    'please see that they come in house T-shirts and with a water bottle.',
] as const;

function messageRecord(
  message: PlannedMessage,
  context: { year: SessionYear; random: Random; count: number; hasFailed: boolean },
): DemoRecord {
  const { year, random, count, hasFailed } = context;
  const { enrolment, day, second, text, category } = message;
  const createdAt = instantText(day, second);
  const isToday = day === year.school.moment.today;
  const status = statusOf(hasFailed, isToday ? random.next() : 0);
  const record = demoRecord(`sms-${year.calendar.startYear}-${String(count).padStart(7, '0')}`, createdAt, {
    to: enrolment.student.family.phone,
    text,
    recipient: enrolment.student.reference,
    template: message.template,
    category,
    segments: segmentsOf(text),
    status,
    status_on: status === 'queued' ? undefined : instantText(day, second + random.integer(2, 40)),
    provider_id: status === 'queued' ? undefined : `MX${random.digits(10)}`,
    error: hasFailed
      ? random.pick(['Number on the DND list', 'Subscriber absent', 'Invalid number'] as const)
      : undefined,
    batch: `${category}-${dayText(day)}`,
    sent_by: year.school.staff.clerk.reference,
  });
  return record;
}

function statusOf(hasFailed: boolean, delay: number): 'failed' | 'queued' | 'sent' | 'delivered' {
  if (hasFailed) return 'failed';
  if (delay > 0.97) return 'queued';
  return delay > 0.9 ? 'sent' : 'delivered';
}

/** GSM-7 text is 160 characters, or 153 a part; any other 70, or 67. @see reports 6 */
export function segmentsOf(text: string): number {
  const [alone, part] = /^[\n\r !-Z_a-z¡£¤¥§¿ÄÅÆÇÉÑÖØÜßàäåæèéìñòöøùüΓΔΘΛΞΠΣΦΨΩ]*$/.test(text)
    ? [160, 153]
    : [70, 67];
  return text.length <= alone ? 1 : Math.ceil(text.length / part);
}
