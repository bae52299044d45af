/** A few rounds of the campaign of the same name, the same every time. */
import { it } from '@jest/globals';
import { Random } from '../../../src/demo/random.js';
import { useGateway } from '../../contract/gateway.js';
import { expectRecomputed } from './expect-recomputed.js';
import { RandomSchool } from './random-school.js';

const gateway = useGateway();

it.each([1, 2, 3])(
  'every report says what its records come to, in school %i',
  async (seed) => {
    const school = new RandomSchool(gateway, new Random(seed));
    await school.begin();
    for (let index = 0; index < 60; index++) await school.write();
    await expectRecomputed(school);
  },
  60_000,
);
