/** What people of a school do in the portal; the lists of docs/tasks.md are of these names. */
import { expect } from '@jest/globals';
import { eventually } from '../eventually.js';
import type { PersonAtWork, Tasks } from './person-at-work.js';

export const CLERK: Tasks = {
  'See what leave is to be decided, and how many students there are': async (person) => {
    await person.sees('region', 'Leave to approve');
    await person.sees('region', 'Strength');
  },
  'Find a student by a part of the name': async (person) => {
    await person.opensRecordsOf('Students');
    await person.page.getByRole('searchbox').fill('an');
    await person.page.waitForURL(/search=an/);
    await person.seesRows('Students');
  },
  'Change the phone number of a guardian': async (person) => {
    await person.opensFirstRow();
    await person.field('Guardian phone').fill('+919812345678');
    await person.savesChanges();
  },
  'Take that change back': async (person) => {
    await person.page.getByRole('tab', { name: 'History' }).click();
    await person.button('Restore Guardian phone from before').first().click();
    await person.page.getByRole('tab', { name: 'Fields' }).click();
    const phone = person.field('Guardian phone');
    await eventually(async () => (await phone.inputValue()) !== '+919812345678');
  },
  'Attach a certificate to a student': async (person) => {
    await person.page.getByRole('tab', { name: 'Files' }).click();
    const chosen = person.page.waitForEvent('filechooser');
    await person.button('Add a file').click();
    const name = `certificate-${person.stamp}.txt`;
    await (await chosen).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('born') });
    await person.sees('cell', name);
  },
  'Approve a request for leave': async (person) => {
    await decideLeave(person, 'Approve');
  },
  'Find a student from any page': async (person) => {
    await person.page.keyboard.press('Control+k');
    await person.page.getByRole('combobox', { name: 'Search everything' }).fill('sharma');
    await person.page.getByRole('option', { name: / · / }).first().click();
    await person.page.waitForURL(/\/portal\/records\/registration\//);
  },
  'Print the list of a class': async (person) => {
    await person.opensRecordsOf('Students');
    await person.filters({ Class: '5', Section: 'B' });
    await person.prints('Class list');
  },
  'Write to the parents of a section': async (person) => {
    await person.goesTo('Write to parents');
    await person.chooses('Class', '5');
    await person.chooses('Section', 'A');
    await person.field('Text').fill(`{{name}}: the school is closed tomorrow. ${person.stamp}`);
    await person.reads(/: the school is closed tomorrow/);
    await person.button(/^Send \d+ messages$/).click();
    await person.dialog().getByRole('button', { name: /^Send/ }).click();
    await person.reads(/^Kept, because the school has no provider for them: \d+$/);
  },
  'Enter a holiday': async (person) => {
    await person.opensRecordsOf('Holidays');
    await person.newRecord();
    await person.field('Date').fill('2027-01-26');
    await person.field('Name').fill(`Republic Day ${person.stamp}`);
    await person.createsRecord();
  },
  'Keep the list of a class as a view': async (person) => {
    await person.opensRecordsOf('Students');
    await person.filters({ Class: '5', Section: 'A' });
    await person.keepsView(`Class 5 A ${person.stamp}`);
  },
  'Export that list': async (person) => {
    expect((await person.exports('CSV')).toString().split('\n').length).toBeGreaterThan(3);
  },
  'Import a list of new students': async (person) => {
    await person.goesTo('Import');
    await person.chooses('Import into', 'Students');
    const heads = 'Sequence,Name,Class,Section,Gender,DOB,Session,Admitted on,Status';
    const rest = '1,A,female,01/06/2015,2026-27,31/03/2026,active';
    const rows = ['Meera Nair', 'Sara Khan'].map((name, at) => `T${person.stamp}${at},${name},${rest}`);
    const buffer = Buffer.from(`${[heads, ...rows].join('\n')}\n`);
    const file = { name: 'new-students.csv', mimeType: 'text/csv', buffer };
    await person.page.locator('input[type=file]').setInputFiles(file);
    await person.sees('heading', 'new-students.csv');
    await person.button('Start dry run').click();
    await person.button(/^Import/).click();
    await person.dialog().getByText('New records: 2').waitFor();
    await person.dialog().getByRole('button', { name: 'Import', exact: true }).click();
    await person.sees('link', 'See the records');
  },
};

export const TEACHER: Tasks = {
  'See who is present today, and who is short of attendance': async (person) => {
    await person.sees('region', 'Absent by class');
    const short = person.page.getByRole('region', { name: 'Low attendance' });
    await short.locator('.figure-value').waitFor();
  },
  'Look at the day before, and come back': async (person) => {
    const day = person.page.getByLabel('The day that is shown');
    const today = await day.inputValue();
    await person.button('The day before').click();
    await person.page.waitForURL(/day=/);
    await person.button('The day after').click();
    expect(await day.inputValue()).toBe(today);
  },
  'Open the day sheet of one’s sections': async (person) => {
    await person.page.getByRole('link', { name: /^Students present/ }).click();
    await person.sees('heading', 'Day sheet');
    await person.seesRows('Day sheet');
  },
  'Take the attendance of a section': async (person) => {
    await person.goesTo('Take attendance');
    await person.cell(0).click();
    await person.cell(1).click();
    await person.savesRows();
  },
  'Take back what was marked': async (person) => {
    await person.button('Undo').click();
    await person.reads(/records? restored\.$/);
  },
  'Enter marks by keys': async (person) => {
    await person.goesTo('Enter marks');
    await person.cell(0).fill('12');
    await person.page.keyboard.press('Enter');
    await person.savesRows();
  },
  'Correct a mark of attendance': async (person) => {
    await person.opensRecordsOf('Student attendance');
    await person.filters({ Status: 'Absent' });
    await person.opensFirstRow();
    await person.field('Remark').fill(`Came at ten ${person.stamp}`);
    await person.savesChanges();
  },
  'Ask for leave': async (person) => {
    await person.goesTo('Home');
    const welcome = await person.page.getByText(/^Welcome, /).textContent();
    const own = welcome?.replace(/^Welcome, (.*)\.$/, '$1') ?? '';
    await person.opensRecordsOf('Leave requests');
    await person.newRecord();
    await person.chooses('Name is one of', 'Staff');
    await person.finds('Name', own);
    await person.chooses('Kind', 'Staff');
    await person.field('From').fill('2026-12-01');
    await person.field('To').fill('2026-12-02');
    await person.field('Reason').fill('A wedding');
    await person.createsRecord();
  },
  'Write a remark beside a result': async (person) => {
    await person.opensRecordsOf('Results');
    await person.opensFirstRow();
    await person.field('Remarks').fill(`Reads well aloud ${person.stamp}`);
    await person.savesChanges();
  },
  'Open a view that a colleague shares': async (person) => {
    await person.opensRecordsOf('Students');
    await person.button('Views').click();
    await person.page.getByRole('menuitem', { name: /By roll number/ }).click();
    await person.page.waitForURL(/view=/);
    await person.seesRows('Students');
  },
  'Take the attendance of a class this month as XLSX': async (person) => {
    await person.opensReport('Monthly class attendance');
    await person.finds('Class', '5');
    await person.runsReport('Monthly class attendance');
    const file = await person.takesFile(() => person.button('XLSX file').click());
    expect(file.length).toBeGreaterThan(2000);
  },
  'See as a chart who is short of attendance': async (person) => {
    await person.opensReport('Attendance below a threshold');
    await person.page.getByRole('tab', { name: 'Chart' }).click();
    await person.page.locator('canvas').first().waitFor();
  },
  'Put a dashboard together': async (person) => {
    await makeDashboard(person, 'My classes');
    await person.addsTile('Strength by class and gender', 'Bar chart');
  },
};

export const ACCOUNTANT: Tasks = {
  'See what is collected today, and what is outstanding': async (person) => {
    await person.sees('region', 'Collected by payment type');
    const outstanding = person.page.getByRole('region', { name: 'Outstanding by age' });
    await outstanding.locator('.bar-text').first().waitFor();
  },
  'See what a week brought by fee head': async (person) => {
    await person.opensReport('Daily fee collection by head');
    await person.field('From').fill('2026-11-16');
    await person.runsReport('Daily fee collection by head');
  },
  'Take that as XLSX': async (person) => {
    const file = await person.takesFile(() => person.button('XLSX file').click());
    expect(file.length).toBeGreaterThan(2000);
  },
  'See it as a chart': async (person) => {
    await person.page.getByRole('tab', { name: 'Chart' }).click();
    await person.page.locator('canvas').first().waitFor();
  },
  'See who owes fees': async (person) => {
    await person.opensReport('Fee defaulters');
    await person.runsReport('Fee defaulters');
  },
  'See how old is what they owe': async (person) => {
    await person.opensReport('Outstanding ageing');
    await person.runsReport('Outstanding ageing');
  },
  'Receive a fee, and see the receipt': async (person) => {
    await person.goesTo('Receive fee');
    await person.finds('Student', 'sharma');
    await person.field('Amount').fill('750');
    await person.button(/^Receive ₹750(\.00)?$/).click();
    await person.page.locator('.print-paper').getByText('Rupees seven hundred fifty only').waitFor();
  },
  'Roll the receipt back': async (person) => {
    await person
      .button(/^Roll back R-/)
      .first()
      .click();
    await person.dialog().getByLabel(/^Why/).fill('Entered for another student');
    await person.dialog().getByRole('button', { name: 'Roll back' }).click();
    await person.reads(/^Receipt R-\d+ is rolled back\.$/);
  },
  'Print a receipt of the list': async (person) => {
    await person.opensRecordsOf('Fee receipts');
    await person.page.getByRole('group').getByRole('row').nth(1).getByRole('link').first().click();
    await person.prints('Fee receipt');
  },

  'Grant a concession': async (person) => {
    await person.opensRecordsOf('Fee concessions');
    await person.newRecord();
    await person.finds('Name', 'a');
    await person.chooses('Kind', 'Percent');
    await person.field('Value').fill('10');
    await person.field('Session').fill('2026-27');
    await person.field('From month').fill('2026-12');
    await person.field('To month').fill('2027-03');
    await person.field('Reason').fill('A sister in class 8');
    await person.createsRecord();
  },
  'Count the receipts paid in cash, and export them': async (person) => {
    await person.opensRecordsOf('Fee receipts');
    await person.filters({ 'Payment type': 'Cash' });
    await person.button('Count').click();
    expect((await person.exports('CSV')).toString().split('\n').length).toBeGreaterThan(5);
  },
  'Go from a student to the fees of that student': async (person) => {
    await person.opensRecordsOf('Students');
    await person.filters({ Class: '5' });
    await person.opensFirstRow();
    await person.page.getByRole('tab', { name: 'Linked records' }).click();
    await person.page.getByRole('link', { name: 'Show all in Fee dues' }).click();
    await person.seesRows('Fee dues');
  },
  'Look at the dashboard of fees': async (person) => {
    await person.goesTo('Dashboards');
    await person.page.getByRole('link', { name: /^Fees/ }).first().click();
    await person.page.locator('.dashboard canvas').nth(1).waitFor();
    await person.seesRows('Fee defaulters');
  },
};

export const PRINCIPAL: Tasks = {
  'See how the day stands': async (person) => {
    for (const title of ['Absent by class', 'Collected by payment type', 'Leave to approve', 'Strength'])
      await person.sees('region', title);
  },
  'Decide a request for leave': async (person) => {
    await person.page.getByRole('link', { name: 'Open: Leave to approve' }).click();
    await decideLeave(person, 'Reject');
  },
  'Give a task to somebody': async (person) => {
    await person.opensRecordsOf('Tasks');
    await person.newRecord();
    await person.field('Name').fill(`Repair the gate ${person.stamp}`);
    await person.field('Amount').fill('1200.5');
    await person.finds('Manager', 'a');
    await person.createsRecord();
  },
  'Remove it, and bring it back': async (person) => {
    await person.button('Remove').click();
    await person.dialog().getByRole('button', { name: 'Remove' }).click();
    await person.reads('This record was removed');
    await person
      .button(/^Restore version/)
      .first()
      .click();
    await person.button(/^Restore$/).click();
    await person.sees('tab', 'Fields');
  },
  'Compare the workload of teachers': async (person) => {
    await person.opensReport('Teacher workload');
    await person.runsReport('Teacher workload');
  },
  'See the attendance of one teacher': async (person) => {
    await person.opensReport('Teacher attendance');
    await person.finds('User', 'a');
    await person.runsReport('Teacher attendance');
  },
  'Invite a new teacher': async (person) => {
    await person.goesTo('People');
    await person.button('Invite a user').click();
    const form = person.dialog('Invite a user');
    await form.getByLabel('User name').fill(`farida${person.stamp}`);
    await form.getByLabel(/^Name/).fill('Farida Khan');
    await form.getByRole('combobox', { name: 'Roles' }).fill('teach');
    await person.page.getByRole('option', { name: 'teacher', exact: true }).click();
    await person.page.keyboard.press('Tab');
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    await person.page.getByText('Give them this link').waitFor();
    await person.button('I have saved a copy').click();
  },
  'See what a user may do': async (person) => {
    await person.goesTo('People');
    await person.page.getByRole('searchbox').fill('viewer');
    await person.page
      .getByRole('row', { name: / viewer / })
      .getByRole('link')
      .click();
    await person.page.getByRole('rowheader', { name: 'Fee heads' }).waitFor();
  },
  'See what the clerk has changed': async (person) => {
    await person.goesTo('Audit');
    await person.page.getByRole('combobox', { name: 'Who' }).fill('clerk');
    await person.page.getByRole('option', { name: /\(clerk\)$/ }).click();
    await person.seesRows('Audit');
  },
  'Show the school in figures on a wall': async (person) => {
    await person.goesTo('Dashboards');
    await person.page.getByRole('link', { name: /The school in figures/ }).click();
    await person.page.locator('.dashboard canvas').first().waitFor();
    await person.button('Full screen').click();
    await person.page.locator('.wall:fullscreen').waitFor();
  },
};

export const ANALYST: Tasks = {
  'See the strength of classes as a chart': async (person) => {
    await person.opensReport('Strength by class and gender');
    await person.page.getByRole('tab', { name: 'Chart' }).click();
    await person.page.locator('canvas').first().waitFor();
  },
  'Take it as CSV': async (person) => {
    const file = await person.takesFile(() => person.button('CSV file').click());
    expect(file.length).toBeGreaterThan(100);
  },
  'Take it as XLSX': async (person) => {
    const file = await person.takesFile(() => person.button('XLSX file').click());
    expect(file.length).toBeGreaterThan(2000);
  },
  'Copy how a program asks for it': async (person) => {
    await person.page.getByRole('tab', { name: 'Request' }).click();
    await person.reads(/curl -s -H/);
  },
  'Filter the students of a section': async (person) => {
    await person.opensRecordsOf('Students');
    await person.filters({ Class: '5', Section: 'A' });
    await person.seesRows('Students');
  },
  'Count them': async (person) => {
    await person.button('Count').click();
    await person.reads(/^\d+ records?$/);
  },
  'Choose another column, and order by it': async (person) => {
    await person.button('Columns').click();
    await person.page.getByRole('checkbox', { name: 'Route' }).click();
    await person.page.keyboard.press('Escape');
    const region = person.page.getByRole('group', { name: 'Students' });
    await region.getByRole('button', { name: 'Route' }).click();
    await person.page.waitForURL(/sort=route/);
  },
  'Export what is shown as CSV': async (person) => {
    expect((await person.exports('CSV')).toString().split('\n')[0]).toMatch(/route/i);
  },
  'Keep what is shown as a view': async (person) => {
    await person.keepsView(`5 A by route ${person.stamp}`);
  },
  'Look at a dashboard that is shared': async (person) => {
    await person.goesTo('Dashboards');
    await person.page.getByRole('link', { name: /The school in figures/ }).click();
    await person.page.locator('.dashboard canvas').first().waitFor();
  },
};

async function decideLeave(person: PersonAtWork, act: 'Approve' | 'Reject'): Promise<void> {
  await person.opensRecordsOf('Leave requests');
  await person.filters({ Status: 'Pending' });
  await person.opensFirstRow();
  await person.button(act).click();
  await person.dialog().getByRole('button', { name: act }).click();
  await person.reads(/^The leave is (approved|rejected)\.$/);
}

async function makeDashboard(person: PersonAtWork, title: string): Promise<void> {
  await person.goesTo('Dashboards');
  await person.button('New dashboard').click();
  await person.field('Title').fill(title);
  await person.button('Create dashboard').click();
  await person.reads('This dashboard has no tiles yet');
}
