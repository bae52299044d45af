/**
 * What each role comes to the portal for, from a log-in on and by the menu alone, on a demo school: the tasks
 * of docs/tasks.md that a day begins with. The campaign `tasks` walks all of them.
 */
import { describe, expect, it } from '@jest/globals';
import { PersonAtWork, type Tasks } from '../campaign/person-at-work.js';
import { tasksOfProgrammers } from '../campaign/tasks-of-programmers.js';
import { ACCOUNTANT, ANALYST, CLERK, PRINCIPAL, TEACHER } from '../campaign/tasks-of-school.js';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { usePages } from './use-pages.js';

const gateway = useDemoGateway({ students: 240 }, { IMPORT_ROLES: 'admin,clerk' });
const pages = usePages(gateway);
const { developer, operator } = tasksOfProgrammers(gateway);

/** Whom it is about, who logs in, and the names of the tasks, in their order. */
const WALKS: readonly (readonly [who: string, user: string, tasks: Tasks, names: readonly string[]])[] = [
  [
    'a clerk',
    'clerk',
    CLERK,
    [
      'Find a student by a part of the name',
      'Change the phone number of a guardian',
      'Take that change back',
      'Approve a request for leave',
      'Enter a holiday',
      'Import a list of new students',
    ],
  ],
  [
    'a teacher',
    'teacher',
    TEACHER,
    [
      'See who is present today, and who is short of attendance',
      'Open the day sheet of one’s sections',
      'Correct a mark of attendance',
      'Ask for leave',
      'Write a remark beside a result',
      'Take the attendance of a class this month as XLSX',
    ],
  ],
  [
    'an accountant',
    'accountant',
    ACCOUNTANT,
    [
      'See what is collected today, and what is outstanding',
      'See what a week brought by fee head',
      'Take that as XLSX',
      'See who owes fees',
      'Grant a concession',
      'Go from a student to the fees of that student',
    ],
  ],
  [
    'a principal',
    'admin',
    PRINCIPAL,
    [
      'See how the day stands',
      'Decide a request for leave',
      'Give a task to somebody',
      'Compare the workload of teachers',
      'Invite a new teacher',
      'See what a user may do',
    ],
  ],
  [
    'an analyst',
    'viewer',
    ANALYST,
    [
      'See the strength of classes as a chart',
      'Take it as CSV',
      'Copy how a program asks for it',
      'Filter the students of a section',
      'Choose another column, and order by it',
      'Keep what is shown as a view',
    ],
  ],
  [
    'a developer',
    'admin',
    developer,
    [
      'Make a key for the tasks alone',
      'Send the first request as it is copied',
      'See what the key was used for, and what it was refused',
      'Make a webhook',
      'Rotate the key, both of which hold for a while',
      'Revoke a key',
    ],
  ],
  [
    'an operator',
    'admin',
    operator,
    [
      'See the version, the migrations and what waits',
      'Find a user, and where they are logged in',
      'Log that user out everywhere',
      'Declare a collection of one’s own',
      'Write a script, and run it',
      'Take the audit of the school as a file',
    ],
  ],
];

describe('by the menu of the portal', () => {
  it.each(WALKS)('%s does what a day begins with', async (_who, user, tasks, names) => {
    const page = await pages.openPortalAs(user, '/');
    const person = new PersonAtWork(page, '1');
    const done: string[] = [];
    for (const name of names) {
      const act = tasks[name];
      if (!act) throw new Error(`docs/tasks.md has no task “${name}”`);
      await act(person).catch((cause: unknown) => {
        throw new Error(`${name}: ${String(cause)}`, { cause });
      });
      done.push(name);
    }
    expect(done).toEqual(names);
  });
});
