/** Names of people in India: those of faker's `en_IN`, and for a few families Hindi names in Devanagari, which faker does not have. */
import { base, en, en_IN, Faker } from '@faker-js/faker';
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
  const faker = new Faker({ locale: [en_IN, en, base], seed: random.integer(1, 0x7fffffff) });
  return {
    familyName: () => faker.person.lastName(),
    firstName: (gender) => faker.person.firstName(gender === 'other' ? undefined : gender),
    hindiFamilyName: () => random.pick(HINDI_FAMILY_NAMES),
    hindiFirstName: (gender) => random.pick(gender === 'female' ? HINDI_GIRLS : HINDI_BOYS),
  };
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
