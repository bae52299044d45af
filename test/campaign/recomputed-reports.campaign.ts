/** Reports after random writes: each says what its raw records come to, computed anew without SQL. */
import { useGateway } from '../contract/gateway.js';
import { expectRecomputed } from '../school/reports/recomputed/expect-recomputed.js';
import { RandomSchool } from '../school/reports/recomputed/random-school.js';
import { campaign } from './campaign.js';

const gateway = useGateway();

campaign('answers every report as its records say, after whatever was written', async ({ random, count }) => {
  const school = new RandomSchool(gateway, random);
  await school.begin();
  for (let batch = 0; batch < 4; batch++) {
    for (let index = 0; index < 25; index++) count(await school.write());
    await expectRecomputed(school);
    count('times that all reports were recomputed');
  }
});
