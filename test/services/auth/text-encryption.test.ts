import { describe, expect, it } from '@jest/globals';
import {
  loadEncryptionKeys,
  parseEncryptionSecrets,
  TextEncryption,
} from '../../../src/services/auth/text-encryption.js';
import { useTestDatabase } from '../../database.js';

const OLD = 'old-secret-of-at-least-32-characters';
const NEW = 'new-secret-of-at-least-32-characters';

const encryption = new TextEncryption(parseEncryptionSecrets(OLD));
const CHANGED = /was changed, or belongs to another domain/;

describe('an encrypted text', () => {
  it('is read by its domain', () => {
    for (const text of ['', 'x', 'कुंजी 🔑', 'x'.repeat(100_000)]) {
      expect(encryption.decrypt('top', encryption.encrypt('top', text))).toBe(text);
    }
  });

  it('is another one each time, and names its key', () => {
    const [one, two] = [encryption.encrypt('top', 'x'), encryption.encrypt('top', 'x')];
    expect(one).not.toBe(two);
    expect(one.split('.')[1]).toBe(two.split('.')[1]);
  });

  it('is not read by another domain', () => {
    expect(() => encryption.decrypt('east', encryption.encrypt('top', 'x'))).toThrow(CHANGED);
  });

  it('is not read when any of its characters was changed', () => {
    const encrypted = encryption.encrypt('top', 'the pin is 1234');
    for (let at = 0; at < encrypted.length; at++) {
      const other = encrypted[at] === 'A' ? 'B' : 'A';
      const changed = encrypted.slice(0, at) + other + encrypted.slice(at + 1);
      expect(() => encryption.decrypt('top', changed)).toThrow(/cannot be decrypted/);
    }
  });

  it('is not read when it is cut or padded', () => {
    const encrypted = encryption.encrypt('top', 'the pin is 1234');
    for (const changed of [
      encrypted.slice(0, -1),
      encrypted.slice(0, -4),
      `${encrypted}A`,
      `${encrypted}=`,
      `${encrypted}.`,
      ` ${encrypted}`,
    ]) {
      expect(() => encryption.decrypt('top', changed)).toThrow(/cannot be decrypted/);
    }
  });

  it.each(['', 'hello', 'cge1', 'cge1.x', 'cge1.x.', 'cge2.abcdefgh.AAAA', 'cge1.__proto__.AAAA'])(
    'is not %j',
    (text) => {
      expect(() => encryption.decrypt('top', text)).toThrow(/begins with `cge1.`/);
    },
  );
});

describe('the keys', () => {
  it('rotate: the first encrypts, all decrypt', () => {
    const rotated = new TextEncryption(parseEncryptionSecrets(`${NEW} ${OLD}`));
    const before = encryption.encrypt('top', 'before');
    expect(rotated.decrypt('top', before)).toBe('before');
    const after = rotated.encrypt('top', 'after');
    expect(after.split('.')[1]).not.toBe(before.split('.')[1]);
    expect(() => encryption.decrypt('top', after)).toThrow(
      /the key [\w-]{8} it was encrypted with is not among those of ENCRYPTION_SECRET/,
    );
  });

  it('are refused when they are short', () => {
    expect(() => parseEncryptionSecrets('short')).toThrow('fewer than 32 characters');
    expect(() => parseEncryptionSecrets(' ')).toThrow('holds no secret');
  });
});

describe('a key of the database', () => {
  const test = useTestDatabase();

  it('is made once, for all gateways', async () => {
    const none = { encryptionSecret: undefined };
    const [one, two] = await Promise.all([
      loadEncryptionKeys(test.database, none),
      loadEncryptionKeys(test.database, none),
    ]);
    const encrypted = new TextEncryption(one).encrypt('top', 'x');
    expect(new TextEncryption(two).decrypt('top', encrypted)).toBe('x');
  });
});
