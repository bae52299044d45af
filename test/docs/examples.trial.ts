/**
 * Every command, query and script of the README and the manual runs, on the demo school, as it stands there.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';
import { type Answered, ask } from '../contract/graphql.js';
import { type Example, readExamples } from './examples.js';
import { listDocuments } from './project-files.js';
import { endGroup, Reader } from './reader.js';
import { describeSpreadsheetPrograms } from './spreadsheet-programs.js';

const gateway = useDemoGateway({ students: 120 });
const documents = listDocuments()
  .map((file) => ({ file, examples: readExamples(file).filter(isRun) }))
  .filter(({ examples }) => examples.length > 0);

describe.each(documents)('$file', ({ examples }) => {
  let reader: Reader;
  beforeAll(async () => {
    const { url, databaseUrl } = gateway;
    reader = await Reader.create({ url, databaseUrl, token: gateway.tokenOf('admin') });
  });
  afterAll(() => reader[Symbol.asyncDispose]());

  it.each(examples)('line $line, $language', (example) => run(example, reader));
});

describeSpreadsheetPrograms(gateway);

function isRun({ notRunBecause }: Example): boolean {
  return notRunBecause === undefined;
}

async function run(example: Example, reader: Reader): Promise<void> {
  const { language, code, isListening } = example;
  const [, name] = /^\/\/ ([\w-]+\.js)\n/.exec(code) ?? [];
  switch (language) {
    case 'sh':
      return isListening ? expectToHear(reader, code) : expectToRun(reader, example);
    case 'graphql':
      await ask(gateway, code);
      return;
    case 'js':
      // A file that the commands after it use, or a script.
      if (name !== undefined) await reader.write(name, code);
      else await expectScriptToRun(code);
      return;
    case 'text':
      // For another program; there is nothing here to run.
      return;
    case 'json':
      JSON.parse(code);
      return;
    default:
      throw new Error(`${example.file}:${example.line}: ${language} is not run; say why by no-run "<why>"`);
  }
}

async function expectToRun(reader: Reader, { code, refusedWith }: Example): Promise<void> {
  const shown = await reader.run(code);
  if (refusedWith === undefined) {
    if (shown.code !== 0) throw new Error(`exit code ${shown.code}: ${shown.errors}${shown.output}`);
    // GraphQL answers its errors with the status 200.
    expect(shown.output).not.toContain('"errors":[');
  } else {
    expect(shown.code).not.toBe(0);
    expect(shown.errors).toContain(`returned error: ${refusedWith}`);
  }
}

/** Changes a task until the listener has printed something. */
async function expectToHear(reader: Reader, code: string): Promise<void> {
  const listener = reader.start(code);
  try {
    const heard = Promise.race([
      once(listener.stdout, 'data').then(([chunk]) => String(chunk)),
      once(listener, 'exit').then(() => 'it has ended'),
    ]);
    let output: string | undefined;
    while (output === undefined) {
      await ask(gateway, 'mutation { createTask(data: {name: "Listen", amount: "5000"}) { id } }');
      output = await Promise.race([heard, sleep(200, undefined)]);
    }
    expect(output).toContain('Listen');
  } finally {
    endGroup(listener);
  }
}

async function expectScriptToRun(code: string): Promise<void> {
  const save =
    'mutation ($code: String!) { saveScript(script: { name: "example-of-the-manual", code: $code }) ' +
    '{ name } }';
  await ask(gateway, save, { as: 'admin', variables: { code } });
  const { runScript } = (await ask(
    gateway,
    'mutation { runScript(name: "example-of-the-manual") { status error { message } } }',
  )) as Answered;
  expect(runScript).toEqual({ status: 'SUCCEEDED', error: null });
}
