import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import {
  surveyDocuments,
  toCollectionName,
} from '../../../../src/services/importing/mongo/survey-documents.js';

it.each([
  ['students', 'students'],
  ['FeeReceipts', 'fee_receipts'],
  ['exams.marks', 'exams_marks'],
  ['2026', 'c_2026'],
  ['taken', 'taken_2'],
  ['x'.repeat(60), 'x'.repeat(40)],
  ['…', 'c'],
])('the collection %s is called %s', (name, expected) => {
  expect(toCollectionName(name, new Set(['taken']))).toBe(expected);
});

it('counts what became of values, with the first ids', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'campus-survey-'));
  try {
    const file = path.join(folder, 'x.json');
    const lines = Array.from({ length: 7 }, (_, _id) => `{"_id":${_id},"r":{"$regex":"a","$options":""}}\n`);
    await writeFile(file, `${lines.join('')}{\n`);
    const signal = new AbortController().signal;
    const { format, report } = await surveyDocuments(file, { signal, onProgress: () => {} });
    expect(format).toBe('ejson');
    const alteration = { path: 'r', was: 'a regular expression', became: 'its text' };
    expect(report).toEqual({
      documents: 8,
      alterations: [{ ...alteration, count: 7, firstIds: ['0', '1', '2', '3', '4'] }],
      unlistedAlterations: 0,
      faults: { count: 1, samples: [{ number: 8, fault: expect.stringContaining('this is not JSON') }] },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
