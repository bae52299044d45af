/**
 * Names of people in India: those of faker's locale `en_IN`, and for a few families Hindi names in
 * Devanagari, which faker does not have.
 */
import { faker } from '@faker-js/faker/locale/en_IN';
import type { Random } from './random.js';

export type Gender = 'male' | 'female' | 'other';

export interface NameSource {
  familyName(): string;
  firstName(gender: Gender): string;
  /** A family name and first names in Devanagari. */
  hindiFamilyName(): string;
  hindiFirstName(gender: Gender): string;
}

export function nameSource(random: Random): NameSource {
  // Its lists alone, chosen from by our own random numbers: faker's are one global stream for everybody.
  const { first_name, last_name } = faker.definitions.person;
  const men = asNames(first_name.male);
  const women = asNames(first_name.female);
  const families = asNames(last_name.generic);
  return {
    familyName: () => random.pick(families),
    firstName: (gender) => random.pick(gender === 'female' ? women : men),
    hindiFamilyName: () => random.pick(HINDI_FAMILY_NAMES),
    hindiFirstName: (gender) => random.pick(gender === 'female' ? HINDI_GIRLS : HINDI_BOYS),
  };
}

function asNames(names: readonly string[] | undefined): readonly [string, ...string[]] {
  const [first, ...others] = names ?? [];
  if (first === undefined) throw new Error("faker's locale en_IN has lost its names");
  return [first, ...others];
}

const HINDI_FAMILY_NAMES = [
  'शर्मा',
  'वर्मा',
  'गुप्ता',
  'मिश्रा',
  'यादव',
  'त्रिपाठी',
  'पाण्डेय',
  'चौधरी',
  'ठाकुर',
  'कुशवाहा',
  'जोशी',
  'देशमुख',
] as const;
const HINDI_BOYS = [
  'आरव',
  'विवान',
  'आदित्य',
  'अर्जुन',
  'कृष्ण',
  'ईशान',
  'रोहन',
  'राहुल',
  'अमित',
  'मोहन',
  'दीपक',
  'संजय',
  'राजेश',
  'सुरेश',
] as const;
const HINDI_GIRLS = [
  'अनन्या',
  'दीक्षा',
  'काव्या',
  'नेहा',
  'पूजा',
  'प्रिया',
  'श्रुति',
  'सीता',
  'गीता',
  'मीरा',
  'राधा',
  'सुनीता',
  'कविता',
  'ऋतु',
] as const;
