/** openapi.json as a Postman collection, its requests sent by Newman. */
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import { useDemoGateway } from '../contract/demo-gateway.js';

/** The two programs come without types. */
const require = createRequire(import.meta.url);
const newman: { run(options: object, done: (error: Error | null, summary: Summary) => void): void } =
  require('newman');
const converter: {
  convert(input: object, options: object, done: (error: Error | null, result: Converted) => void): void;
} = require('openapi-to-postmanv2');

interface Converted {
  readonly result: boolean;
  readonly reason?: string;
  readonly output: readonly { readonly data: Item }[];
}

interface Summary {
  readonly run: {
    readonly executions: readonly { readonly item: Item; readonly response?: { readonly code: number } }[];
  };
}

const gateway = useDemoGateway({ students: 30 });

/** As the examples of the document say, without the parameters that need not be there. */
const OPTIONS = { parametersResolution: 'Example', enableOptionalParameters: false };

interface Item {
  readonly name: string;
  readonly item?: Item[];
  readonly request?: { readonly method: string };
}

it('reads every operation, and the gateway understands what the document says', async () => {
  const document = await (await gateway.fetch('/openapi.json', { as: 'admin' })).text();
  const { output } = await new Promise<Converted>((resolve, reject) => {
    converter.convert({ type: 'string', data: document }, OPTIONS, (error, converted) => {
      if (error || !converted.result) reject(error ?? new Error(converted.reason));
      else resolve(converted);
    });
  });
  const summary = await runByNewman(readsOf(output[0]?.data));
  const answers = summary.run.executions.map(
    ({ item, response }) => `${response?.code ?? 'no answer'} ${item.name}`,
  );
  expect(answers.filter((answer) => /^(401|5|no)/.test(answer))).toEqual([]);
  const lists = answers.filter((answer) => / The records of \w+ that match/.test(answer));
  expect(lists.length).toBeGreaterThan(10);
  expect(lists.filter((answer) => !/^(200|403) /.test(answer))).toEqual([]);
});

/** The requests that read, in their folders; a log-out among the others would end the session. */
function readsOf(folder: Item | undefined): Item | undefined {
  const item = (folder?.item ?? [])
    .map((one) => (one.request ? one : readsOf(one)))
    .filter((one) => one?.request?.method === 'GET' || (one?.item?.length ?? 0) > 0);
  return folder && { ...folder, item: item as Item[] };
}

function runByNewman(collection: Item | undefined): Promise<Summary> {
  const envVar = [
    { key: 'baseUrl', value: gateway.url },
    { key: 'bearerToken', value: gateway.tokenOf('admin') },
  ];
  return new Promise((resolve, reject) => {
    newman.run({ collection, envVar }, (error, summary) => (error ? reject(error) : resolve(summary)));
  });
}
