/** The shared texts of a workbook. Its cells refer to them by number. */
import { closeSync, readSync, writeSync } from 'node:fs';
import { openNamelessFile } from './nameless-file.js';

/** Texts beyond this size are moved from memory to a file: 8 MiB. */
const MAX_HELD_BYTES = 8 * 1024 ** 2;
const PAGE_BYTES = 64 * 1024;
const MAX_PAGES = 64;
const FIRST_OFFSETS = 1_024;

/**
 * Texts by number, in little memory for any number of texts: eight bytes for each, and the part that was
 * read last. Most cells refer to texts near those of the previous cells, so that few parts are read twice.
 * The caller must dispose of it.
 */
export class SharedStrings implements Disposable {
  #offsets = new Float64Array(FIRST_OFFSETS);
  #count = 0;
  #written = 0;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #held: Buffer | undefined;
  #file: number | undefined;
  readonly #pages = new Map<number, Buffer>();

  get count(): number {
    return this.#count;
  }

  add(text: string): void {
    if (this.#count + 1 >= this.#offsets.length) {
      const larger = new Float64Array(this.#offsets.length * 2);
      larger.set(this.#offsets);
      this.#offsets = larger;
    }
    const bytes = Buffer.from(text);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    this.#count += 1;
    this.#offsets[this.#count] = (this.#offsets[this.#count - 1] ?? 0) + bytes.length;
    if (this.#pendingBytes > MAX_HELD_BYTES) this.#spill();
  }

  /** Call it after adding the last text. */
  seal(): void {
    if (this.#file !== undefined) this.#spill();
    else this.#held = Buffer.concat(this.#pending);
    this.#pending = [];
  }

  /** `undefined` for a number beyond the last text. */
  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    const start = this.#offsets[index] ?? 0;
    const end = this.#offsets[index + 1] ?? 0;
    return this.#held ? this.#held.toString('utf8', start, end) : this.#readText(start, end);
  }

  [Symbol.dispose](): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #spill(): void {
    this.#file ??= openNamelessFile();
    const bytes = Buffer.concat(this.#pending);
    writeSync(this.#file, bytes, 0, bytes.length, this.#written);
    this.#written += bytes.length;
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  #readText(start: number, end: number): string {
    const first = Math.floor(start / PAGE_BYTES);
    const last = Math.floor(Math.max(start, end - 1) / PAGE_BYTES);
    const parts: Buffer[] = [];
    for (let page = first; page <= last; page += 1) {
      const from = Math.max(0, start - page * PAGE_BYTES);
      parts.push(this.#page(page).subarray(from, end - page * PAGE_BYTES));
    }
    return Buffer.concat(parts).toString();
  }

  #page(number: number): Buffer {
    const known = this.#pages.get(number);
    if (known) return known;
    const page = Buffer.alloc(PAGE_BYTES);
    if (this.#file !== undefined) readSync(this.#file, page, 0, PAGE_BYTES, number * PAGE_BYTES);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size >= MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    this.#pages.set(number, page);
    return page;
  }
}
