import { describe, expect, it } from '@jest/globals';
import { itAnswers, useGateway } from './gateway.js';

const gateway = useGateway();

describe('the documented report paths', () => {
  itAnswers(gateway, [
    {
      name: 'fee defaulters',
      path: '/getfeedefaultersv2.svc?start_month=2026-04&end_month=2026-06',
      as: 'accountant',
      status: 200,
      expectBody: { rows: [], totals: expect.anything(), warnings: [] },
    },
    {
      name: 'without an end',
      path: '/getfeedefaultersv2.svc?start_month=2026-04',
      as: 'accountant',
      status: 400,
      expectBody: { errors: [expect.objectContaining({ parameter: 'end_month' })] },
    },
    {
      name: 'with a month that is none',
      path: '/getfeedefaultersv2.svc?start_month=2026-13&end_month=2026-06',
      as: 'accountant',
      status: 400,
    },
    {
      name: 'daily collection by query',
      method: 'POST',
      path: '/getdailyfeecollectionheadwise.svc?from=2026-04-01&to=2026-04-02&payment_type=all',
      as: 'accountant',
      status: 200,
    },
    {
      name: 'daily collection by body',
      method: 'POST',
      path: '/getdailyfeecollectionheadwise.svc',
      as: 'accountant',
      body: { from: '2026-04-01', to: '2026-04-02', payment_type: 'cash' },
      status: 200,
      expectBody: { report: 'daily-fee-collection' },
    },
    {
      name: 'daily collection by form',
      method: 'POST',
      path: '/getdailyfeecollectionheadwise.svc',
      as: 'accountant',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'from=2026-04-01&to=2026-04-02&payment_type=neft',
      status: 200,
    },
    {
      name: 'a payment type that is none lists those there are',
      method: 'POST',
      path: '/getdailyfeecollectionheadwise.svc?from=2026-04-01&to=2026-04-02&payment_type=gold',
      as: 'accountant',
      status: 400,
      expectBody: { detail: expect.stringContaining('cash, cheque, card, neft, all') },
    },
    {
      name: 'daily collection by GET',
      path: '/getdailyfeecollectionheadwise.svc',
      as: 'accountant',
      status: 405,
      expectHeaders: { allow: 'POST, OPTIONS' },
    },
    { name: 'fee summary by month', path: '/feesummary.svc?type=month', as: 'accountant', status: 200 },
    { name: 'fee summary by head', path: '/feesummary.svc?type=head', as: 'accountant', status: 200 },
    {
      name: 'fee summary of another type',
      path: '/feesummary.svc?type=class',
      as: 'accountant',
      status: 400,
      expectBody: { detail: expect.stringContaining('month, head') },
    },
    {
      name: 'fee summary to whom it is not for',
      path: '/feesummary.svc?type=month',
      as: 'viewer',
      status: 403,
    },
    { name: 'fee summary without a credential', path: '/feesummary.svc?type=month', status: 401 },
    { name: 'class details', path: '/classbycategory.svc', as: 'admin', status: 200 },
    { name: 'messages of a day', path: '/dailyuniquesms.svc?date=2026-04-01', as: 'admin', status: 200 },
    { name: 'messages of today', path: '/dailyuniquesms.svc', as: 'admin', status: 200 },
    {
      name: 'rolled-back receipts',
      path: '/dailyrolledbackreceipts.svc?date=2026-04-01',
      as: 'admin',
      status: 200,
    },
    {
      name: 'attendance of a class the school does not have',
      path: '/attendancebyclassbymonth/6/2026-04-01/2026-05-31',
      as: 'admin',
      status: 404,
      expectBody: { detail: 'There is no class "6".' },
    },
    {
      name: 'attendance of a class by a day that is none',
      path: '/attendancebyclassbymonth/5/2026-04-31/2026-05-31',
      as: 'admin',
      status: 400,
      expectBody: { errors: [expect.objectContaining({ parameter: 'start', sent: '2026-04-31' })] },
    },
    {
      name: 'attendance of a class to whom it is not for',
      path: '/attendancebyclassbymonth/5/2026-04-01/2026-05-31',
      as: 'accountant',
      status: 403,
    },
    { name: 'an unknown parameter', path: '/classbycategory.svc?clas=5', as: 'admin', status: 400 },
    {
      name: 'by name',
      path: '/?report=fee-summary&type=month',
      as: 'accountant',
      status: 200,
      expectBody: { report: 'fee-summary' },
    },
    {
      name: 'by the name of its field',
      path: '/?report=dailyUniqueSms&date=2026-04-01',
      as: 'admin',
      status: 200,
    },
    {
      name: 'as a page',
      path: '/?report=fee-summary&type=month&first=2',
      as: 'accountant',
      status: 200,
      expectBody: { pageInfo: { hasNextPage: true } },
    },
    {
      name: 'a class the school does not have, of the defaulters',
      path: '/getfeedefaultersv2.svc?start_month=2026-04&end_month=2026-06&class=13',
      as: 'accountant',
      status: 404,
      expectBody: {
        detail: 'There is no class "13".',
        errors: [expect.objectContaining({ parameter: 'class' })],
      },
    },
    {
      name: 'a fee head the school does not have, by name',
      path: '/?report=fee-defaulters&start_month=2026-04&end_month=2026-06&fee_head=Tution',
      as: 'accountant',
      status: 404,
      expectBody: { detail: 'There is no fee head "Tution".' },
    },
    {
      name: 'a section the school does not have, by GraphQL',
      method: 'POST',
      path: '/graphql',
      as: 'accountant',
      body: { query: '{ outstandingAgeing(section: "Z") { totals { students } } }' },
      status: 200,
      expectBody: {
        errors: [
          expect.objectContaining({
            message: 'No class has a section "Z".',
            extensions: expect.objectContaining({ status: 404, code: 'NOT_FOUND' }),
          }),
        ],
      },
    },
    {
      name: 'a class the school does not have, of the day sheet, by name',
      path: '/?report=day-sheet&class=13',
      as: 'admin',
      status: 404,
    },
    {
      name: 'a word that is nearly one',
      path: '/?report=collection-trend&interval=moth',
      as: 'accountant',
      status: 400,
      expectBody: {
        detail: expect.stringContaining('expected one of day, week, month, e.g. day. Did you mean "month"?'),
      },
    },
    {
      name: 'a student by the admission number',
      path: '/?report=student&admission_no=A-1',
      as: 'admin',
      status: 404,
      expectBody: { detail: 'There is no student with the admission number "A-1".' },
    },
    {
      name: 'a student by the name it had before',
      path: '/?report=student&sequence=A-1',
      as: 'admin',
      status: 404,
    },
    {
      name: 'a student by both names, which disagree',
      path: '/?report=student&sequence=A-1&admission_no=A-2',
      as: 'admin',
      status: 400,
    },
    {
      name: 'a session that is none, of results',
      path: '/o/recs/result?stream=true&session=2026-28',
      as: 'admin',
      status: 400,
    },
    {
      name: 'a parameter of another report',
      path: '/?report=day-sheet&receipt_no=1',
      as: 'admin',
      status: 400,
      expectBody: { detail: expect.not.stringContaining('start_month') },
    },
    { name: 'by name, for another role', path: '/?report=fee-summary&type=month', as: 'viewer', status: 403 },
  ]);

  it('come as CSV by Accept and by format, with a name', async () => {
    for (const [path, accept] of [
      ['/feesummary.svc?type=month', 'text/csv'],
      ['/feesummary.svc?type=month&format=csv', '*/*'],
    ]) {
      const answer = await gateway.fetch(path ?? '', { as: 'accountant', headers: { accept: accept ?? '' } });
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(answer.headers.get('content-disposition')).toMatch(
        /^attachment; filename="fee-summary.*\.csv"$/,
      );
      expect(await answer.text()).toContain(',');
    }
  });

  it('come as XLSX', async () => {
    const answer = await gateway.fetch('/feesummary.svc?type=month&format=xlsx', { as: 'accountant' });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(0, 2).toString()).toBe('PK');
  });
});
