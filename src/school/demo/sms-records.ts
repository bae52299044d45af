/** Records of the text messages the demo school sent: absences, notices, fee reminders. */
import { type DemoRecord, demoRecord } from './demo-record.js';
import type { Enrolment } from './enrolment.js';
import { Random } from './random.js';
import {
  clock,
  dayOfMonth,
  dayText,
  type EpochDay,
  instantText,
  listEpochDays,
  weekday,
} from './session-calendar.js';
import type { SessionYear } from './session-year.js';

interface PlannedMessage {
  readonly enrolment: Enrolment;
  readonly second: number;
  readonly text: string;
  readonly template: string;
  readonly category: 'fee' | 'absence' | 'notice';
}

/**
 * Siblings share a number, so a notice reaches it once for each of them; a message that failed is sent again.
 */
export function* smsRecords(year: SessionYear): Iterable<DemoRecord> {
  const { school, calendar } = year;
  let count = 0;
  for (const day of listEpochDays(calendar.start, year.lastDay)) {
    const random = new Random(school.seed, school.plan.domainId, 'sms', day);
    const messages = [absenceMessages, noticeMessages, reminderMessages].flatMap((listMessages) => [
      ...listMessages(day, year),
    ]);
    for (const message of messages) {
      const hasFailed = random.isChance(0.04);
      yield messageRecord(message, { year, day, random, count: ++count, hasFailed });
      if (hasFailed && random.isChance(0.6)) {
        const again = { ...message, second: message.second + 1800 };
        yield messageRecord(again, { year, day, random, count: ++count, hasFailed: random.isChance(0.3) });
      }
    }
  }
}

function* absenceMessages(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  let place = 0;
  for (const { enrolment, markOn } of year.attendance) {
    if (markOn(day) !== 'absent') continue;
    const { student, klass } = enrolment;
    const text =
      `Dear parent, ${student.name} of class ${klass.name} ${enrolment.sectionOn(day).name} is absent ` +
      `today, ${dayText(day)}. - ${year.school.plan.shortName}`;
    const second = clock(10, 15) + Math.floor(place++ / 4);
    yield { enrolment, second, text, template: 'absence-v1', category: 'absence' };
  }
}

/** Every Friday to a quarter of the classes; before Independence Day and Diwali, in Hindi, to all. */
function* noticeMessages(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  const { holidays, workingDays } = year.calendar;
  const nameOn = (wanted: EpochDay) => holidays.find((holiday) => holiday.day === wanted)?.name ?? '';
  const greeting = nameOn(day) === nameOn(day + 1) ? undefined : GREETINGS[nameOn(day + 1)];
  const isFriday = weekday(day) === 5 && workingDays('').includes(day);
  const week = Math.floor(day / 7);
  const { shortName } = year.school.plan;
  const notice = `Dear parent, ${NOTICES[week % NOTICES.length]} - ${shortName}`;
  let place = 0;
  for (const enrolment of year.enrolments) {
    if (day < enrolment.from || day > enrolment.to) continue;
    const common = {
      enrolment,
      second: clock(15, 0) + Math.floor(place++ / 10),
      category: 'notice',
    } as const;
    if (greeting) yield { ...common, text: `${greeting} - ${shortName}`, template: 'greeting-hi' };
    else if (isFriday && enrolment.klass.index % 4 === week % 4)
      yield { ...common, text: notice, template: 'notice-v2' };
  }
}

/** Reminds those whose dues are open, on the 12th and the 25th. */
function* reminderMessages(day: EpochDay, year: SessionYear): Iterable<PlannedMessage> {
  if (![12, 25].includes(dayOfMonth(day))) return;
  let place = 0;
  for (const { enrolment, overdueOn } of year.ledgers) {
    if (day < enrolment.from || day > enrolment.to) continue;
    const overdue = overdueOn(day);
    if (overdue === 0) continue;
    const text =
      `Dear parent, fees of Rs. ${(overdue / 100).toFixed(2)} for ${enrolment.student.name} ` +
      `(${enrolment.student.sequence}) are overdue. Please pay at the office or by NEFT; kindly ignore ` +
      `if paid. - ${year.school.plan.shortName}`;
    const second = clock(16, 30) + Math.floor(place++ / 8);
    yield { enrolment, second, text, template: 'fee-reminder-v3', category: 'fee' };
  }
}

/** On the day before. */
const GREETINGS: Readonly<Record<string, string>> = {
  'Independence Day':
    'प्रिय अभिभावक, स्वतंत्रता दिवस समारोह कल प्रातः 7:30 बजे विद्यालय प्रांगण में है। आप सादर आमंत्रित हैं।',
  'Diwali vacation': 'प्रिय अभिभावक, विद्यालय परिवार की ओर से दीपावली की हार्दिक शुभकामनाएँ।',
};

const NOTICES = [
  'the parent-teacher meeting is on Saturday from 9 am to 12 noon. Please bring the diary.',
  'the unit test begins on Monday. The syllabus is in the diary of your ward.',
  'please send the consent form for the educational trip by Tuesday.',
  'winter uniform is compulsory from next week.',
  'the annual sports day is next Saturday at 8 am on the school ground. All students take part; ' +
    'please see that they come in house T-shirts and with a water bottle.',
] as const;

function messageRecord(
  { enrolment, second, text, template, category }: PlannedMessage,
  of: { year: SessionYear; day: EpochDay; random: Random; count: number; hasFailed: boolean },
): DemoRecord {
  const { year, day, random, hasFailed } = of;
  const { student } = enrolment;
  const delay = day === year.school.today ? random.next() : 0;
  let status = 'delivered';
  if (hasFailed) status = 'failed';
  else if (delay > 0.97) status = 'queued';
  else if (delay > 0.9) status = 'sent';
  const isSent = status !== 'queued';
  const id = `sms-${year.calendar.startYear}-${String(of.count).padStart(7, '0')}`;
  return demoRecord(id, instantText(day, second), {
    to: student.family.guardian_phone,
    text,
    recipient: student.reference,
    ...{ template, category },
    segments: segmentsOf(text),
    status,
    status_on: isSent ? instantText(day, second + random.integer(2, 40)) : undefined,
    provider_id: isSent ? `MX${random.digits(10)}` : undefined,
    error: hasFailed
      ? random.pick(['Number on the DND list', 'Subscriber absent', 'Invalid number'] as const)
      : undefined,
    batch: `${category}-${dayText(day)}`,
    sent_by: year.school.staff.clerk.reference,
  });
}

/** GSM-7 text is 160 characters, or 153 a part; any other 70, or 67. @see reports 6 */
export function segmentsOf(text: string): number {
  const [alone, part] = /^[\n\r !-Z_a-z¡£¤¥§¿ÄÅÆÇÉÑÖØÜßàäåæèéìñòöøùüΓΔΘΛΞΠΣΦΨΩ]*$/.test(text)
    ? [160, 153]
    : [70, 67];
  return text.length <= alone ? 1 : Math.ceil(text.length / part);
}
