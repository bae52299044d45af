/**
 * Decides from the bytes of a BSON document whether it is stored unchanged, which is faster than parsing it.
 */
import { isUtf8 } from 'node:buffer';
import { isRecordId } from '../../../base/model/record-id.js';

/**
 * Whether `toPlainDocument` alters nothing of the document and the BSON package accepts it. `false` means
 * unknown: the caller must parse it.
 *
 * @see https://bsonspec.org/spec.html
 */
export function isPlainBson(bytes: Buffer): boolean {
  return new BsonWalk(bytes).isPlain();
}

const SHORTEST_DOCUMENT = 5;
/** For deeper documents the result is `false`. */
const MAX_DEPTH = 32;
const DOLLAR = 0x24;
const POINT = 0x2e;
const LAST_OF_ASCII = 0x7f;
/** The milliseconds of the first and the last instant whose year has four digits. */
const FIRST_INSTANT = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

/** `record`: the members of the document itself, one of which may be its `_id`. */
type Container = 'record' | 'object' | 'list';

class BsonWalk {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  isPlain(): boolean {
    return this.#areMembersPlain(this.#bytes.length, 'record', 1) && this.#at === this.#bytes.length;
  }

  /** A length, members, and a zero; all before `end`. */
  #areMembersPlain(end: number, container: Container, depth: number): boolean {
    const bytes = this.#bytes;
    const last = this.#at + this.#int32(end) - 1;
    if (last - this.#at < SHORTEST_DOCUMENT - 1 || last >= end || bytes[last] !== 0) return false;
    this.#at += 4;
    while (this.#at < last) {
      const type = bytes[this.#at] ?? 0;
      this.#at += 1;
      const isId = container === 'record' && this.#isNameOfId();
      if (!(container === 'list' ? this.#skipName(last) : this.#isNamePlain(last))) return false;
      if (!(isId ? this.#isIdPlain(type, last) : this.#isValuePlain(type, last, depth))) return false;
    }
    this.#at += 1;
    return this.#at === last + 1;
  }

  #isNameOfId(): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    return bytes[at] === 0x5f && bytes[at + 1] === 0x69 && bytes[at + 2] === 0x64 && bytes[at + 3] === 0;
  }

  #skipName(end: number): boolean {
    this.#at = this.#bytes.indexOf(0, this.#at) + 1;
    return this.#at > 0 && this.#at <= end;
  }

  /** Skips a name that a path can hold; fails for a name with other characters than ASCII. */
  #isNamePlain(end: number): boolean {
    const bytes = this.#bytes;
    const start = this.#at;
    if (bytes[start] === DOLLAR) return false;
    let at = start;
    for (; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === 0) break;
      if (byte === POINT || byte > LAST_OF_ASCII) return false;
    }
    this.#at = at + 1;
    return at > start && at < end;
  }

  #isIdPlain(type: number, end: number): boolean {
    switch (type) {
      case 0x02: {
        const start = this.#at + 4;
        return this.#isTextPlain(end) && isRecordId(this.#bytes.toString('latin1', start, this.#at - 1));
      }
      case 0x07:
        return this.#skip(12, end);
      case 0x10:
        return this.#skip(4, end);
      case 0x12:
        return this.#skip(8, end);
      default:
        return false;
    }
  }

  #isValuePlain(type: number, end: number, depth: number): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    switch (type) {
      // A double whose exponent is all ones is infinite or NaN.
      case 0x01:
        return this.#skip(8, end) && !((bytes[at + 7] ?? 0) % 128 === 0x7f && (bytes[at + 6] ?? 0) >= 0xf0);
      case 0x02:
        return this.#isTextPlain(end);
      case 0x03:
        return depth < MAX_DEPTH && this.#areMembersPlain(end, 'object', depth + 1);
      case 0x04:
        return depth < MAX_DEPTH && this.#areMembersPlain(end, 'list', depth + 1);
      case 0x05:
        return this.#isBinaryPlain(end);
      case 0x07:
        return this.#skip(12, end);
      case 0x08:
        return this.#skip(1, end) && (bytes[at] ?? 2) < 2;
      case 0x09:
        return this.#skip(8, end) && this.#isInstantPlain(at);
      case 0x0a:
        return true;
      case 0x10:
        return this.#skip(4, end);
      case 0x12:
        return this.#skip(8, end);
      // A decimal that begins with these bits is infinite or NaN.
      case 0x13:
        return this.#skip(16, end) && ((bytes[at + 15] ?? 0) & 0x78) !== 0x78;
      default:
        return false;
    }
  }

  #isTextPlain(end: number): boolean {
    const bytes = this.#bytes;
    const size = this.#int32(end);
    const start = this.#at + 4;
    const last = start + size - 1;
    if (size < 1 || last >= end || bytes[last] !== 0) return false;
    let most = 0;
    for (let at = start; at < last; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === 0) return false;
      most |= byte;
    }
    this.#at = last + 1;
    return most <= LAST_OF_ASCII || isUtf8(bytes.subarray(start, last));
  }

  /** Plain bytes or a UUID; other subtypes have a second length inside. */
  #isBinaryPlain(end: number): boolean {
    const size = this.#int32(end);
    const subtype = this.#bytes[this.#at + 4];
    const isKnown = subtype === 0 || (subtype === 4 && size === 16);
    return size >= 0 && isKnown && this.#skip(5 + size, end);
  }

  #isInstantPlain(at: number): boolean {
    const milliseconds = this.#bytes.readInt32LE(at + 4) * 2 ** 32 + this.#bytes.readUInt32LE(at);
    return milliseconds >= FIRST_INSTANT && milliseconds <= LAST_INSTANT;
  }

  #skip(size: number, end: number): boolean {
    this.#at += size;
    return this.#at <= end;
  }

  /** The number at this position; -1 if the bytes end within it. */
  #int32(end: number): number {
    return this.#at + 4 <= end ? this.#bytes.readInt32LE(this.#at) : -1;
  }
}
