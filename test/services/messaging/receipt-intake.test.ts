import { expect, it } from '@jest/globals';
import { JobQueue } from '../../../src/services/jobs/job-queue.js';
import { ReceiptIntake } from '../../../src/services/messaging/message-delivery.js';
import { openDatabase } from '../../../src/store/database/database.js';
import { useTestDatabase } from '../../database.js';
import { eventually } from '../../eventually.js';
import { TcpProxy } from '../../tcp-proxy.js';

const test = useTestDatabase();

it('keeps the receipts that come while the database is away', async () => {
  const proxy = await TcpProxy.start(test.url);
  const database = await openDatabase({ url: proxy.url, poolSize: 2, statementTimeoutMs: 5_000 });
  const faults: unknown[] = [];
  const intake = new ReceiptIntake({
    jobs: new JobQueue({ database }),
    onFault: (error) => faults.push(error),
  });
  proxy.refuse();
  for (const providerId of ['a', 'b', 'c'])
    intake.take({ providerId, outcome: 'delivered', state: 'DELIVRD' });
  await eventually(() => faults.length === 1);
  proxy.pass();
  const jobs = new JobQueue({ database: test.database });
  await eventually(async () => (await jobs.counts()).queued === 3);
  await intake.close();
  expect(faults).toHaveLength(1);
  await database.close();
  await proxy.close();
});
