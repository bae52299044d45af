/**
 * The checksum of an archive of `mongodump`: CRC-64 of ECMA-182 with reflected bits, as Go computes it.
 */

/** The polynomial 0xC96C5795D7870F42, as two halves. */
const HIGH = 0xc96c5795;
const LOW = 0xd7870f42;

const HIGH_BY_BYTE = new Uint32Array(256);
const LOW_BY_BYTE = new Uint32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    const isOdd = (low & 1) === 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (isOdd) {
      high ^= HIGH;
      low ^= LOW;
    }
  }
  HIGH_BY_BYTE[byte] = high;
  LOW_BY_BYTE[byte] = low;
}

/** Takes bytes one chunk after the other. Numbers of 64 bits would take ten times as long. */
export class Crc64 {
  #high = ~0;
  #low = ~0;

  update(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    for (let at = 0; at < bytes.length; at += 1) {
      const index = (low ^ (bytes[at] ?? 0)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (LOW_BY_BYTE[index] ?? 0);
      high = (high >>> 8) ^ (HIGH_BY_BYTE[index] ?? 0);
    }
    this.#high = high;
    this.#low = low;
  }

  /** Both halves, as signed numbers of 32 bits. */
  get sum(): { readonly high: number; readonly low: number } {
    return { high: ~this.#high, low: ~this.#low };
  }
}
