/**
 * The guest's time zone.
 *
 * QuickJS calls emscripten's `localtime`, which calls the global `Date` of its thread; that only knows the
 * zone of the process, and a change of `TZ` would apply to the whole process. So the thread, which has no
 * other use for it, gets a `Date` of its own whose offset is that of the zone of the run. QuickJS reads
 * nothing else of local time. (Making an instant of a local time within hours of a change of clocks, it takes
 * the offset before for the one after, in any zone.)
 */
const QUARTER_HOUR_MS = 900_000;
const MOST_OFFSETS = 10_000;

/**
 * Makes `Date` of this thread use the offset of a zone. Returns the function that sets the zone, an IANA
 * name.
 */
export function installZonedDate(): (timeZone: string) => void {
  let offsets = new ZoneOffsets('UTC');
  globalThis.Date = class extends Date {
    override getTimezoneOffset(): number {
      return -offsets.minutesAt(this.getTime());
    }
  } as DateConstructor;
  return (timeZone) => {
    if (timeZone !== offsets.timeZone) offsets = new ZoneOffsets(timeZone);
  };
}

class ZoneOffsets {
  readonly timeZone: string;
  readonly #format: Intl.DateTimeFormat;
  /** The offsets by quarter of an hour: clocks change only at those. */
  readonly #minutes = new Map<number, number>();

  constructor(timeZone: string) {
    this.timeZone = timeZone;
    this.#format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset', year: 'numeric' });
  }

  /** Minutes east of Greenwich. */
  minutesAt(instant: number): number {
    const quarter = Math.floor(instant / QUARTER_HOUR_MS);
    if (Number.isNaN(quarter)) return 0;
    const known = this.#minutes.get(quarter);
    if (known !== undefined) return known;
    if (this.#minutes.size >= MOST_OFFSETS) this.#minutes.clear();
    const minutes = this.#read(instant);
    this.#minutes.set(quarter, minutes);
    return minutes;
  }

  #read(instant: number): number {
    const name = this.#format.formatToParts(instant).find((part) => part.type === 'timeZoneName')?.value;
    // `GMT`, `GMT+05:30`, or with seconds for years before standard time, of which whole minutes are used.
    const [, sign, hours, minutes] = /^GMT([+-])(\d+):(\d+)/.exec(name ?? '') ?? [];
    const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
    return sign === '-' ? -offset : offset;
  }
}
