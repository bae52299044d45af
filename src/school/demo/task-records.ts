/** Records of tasks: what the office has to get done. */

import { type DemoRecord, demoRecord, rupees } from './demo-record.js';
import type { DemoSchool } from './demo-school.js';
import { clock, instantText } from './epoch-day.js';
import { Random } from './random.js';

export function* taskRecords(school: DemoSchool): Iterable<DemoRecord> {
  const random = new Random(school.moment.seed, school.plan.domainId, 'tasks');
  const managers = school.staff.members.filter(({ leftOn }) => leftOn === undefined);
  for (let index = 0; index < 60; index++) {
    const ageDays = Math.floor(index * 1.7);
    const klass = school.plan.classes[random.integer(0, school.plan.classes.length - 1)];
    const work = random.pick(WORKS);
    const manager = managers[random.integer(0, managers.length - 1)];
    const createdAt = instantText(school.moment.today - ageDays, clock(10, 30) + random.integer(0, 18_000));
    yield demoRecord(`task-${String(index + 1).padStart(3, '0')}`, createdAt, {
      name: `${work} (class ${klass?.name ?? ''})`,
      amount: random.isChance(0.85) ? rupees(random.integer(10, 1600) * 2_525) : undefined,
      manager: manager?.reference,
    });
  }
}

const WORKS = [
  'Repair the projector',
  'Order chalk and markers',
  'Paint the door',
  'Buy books for the library corner',
  'Replace the ceiling fan',
  'Book buses for the excursion',
  'Print question papers',
  'Service the water cooler',
] as const;
