import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { Faults } from './faults.ts';
import { type Clock, createRealClock, createSteppedClock, isStepped, Quirks } from './quirks.ts';
import { TABLES } from './records/schema.ts';

export interface StateOptions {
  /** A file that survives restarts, `:memory:`, or nothing: a temporary file that keeps large seeds off the heap. */
  file?: string | undefined;
  /** Chance, ids and seeded people follow it. */
  seed?: number | undefined;
  /** A clock of the caller's own drives several parts of one simulation. */
  clock?: 'real' | 'stepped' | Clock | undefined;
  /** Where a stepped clock starts, epoch ms. */
  startAt?: number | undefined;
}

/** Where stepped time begins unless told otherwise: a Monday morning. */
const DEFAULT_START = Date.UTC(2026, 0, 5, 9);

/**
 * The platform's data, in one SQLite database, accessed only here: statements are prepared once, and everything that
 * belongs together (an effect, its ledger rows, its events) commits together.
 */
export class SandboxState {
  readonly clock: Clock;
  readonly seed: number;
  readonly faults = new Faults();
  readonly exchanges = new Exchanges();
  readonly quirks: Quirks;
  /** Where documents are downloaded from: the API's own port once it listens. */
  publicUrl = 'http://sandbox.invalid';
  /** The rate limit in force, as it was given; undefined when there is none. */
  limit: string | undefined;
  /** True once closed: pending tasks no longer run. */
  closed = false;
  /** Set by the deliverer of events; called after a commit with events to deliver. */
  onEvents: (() => void) | undefined;
  /** Set by the logger; called with failures that must never happen. */
  onDefect: ((where: string, error: unknown) => void) | undefined;
  readonly #db: DatabaseSync;
  readonly #temporary: string | undefined;
  readonly #statements = new Map<string, StatementSync>();
  readonly #counters = new Map<string, number>();
  readonly #unsaved = new Set<string>();
  #requests = 0;
  #depth = 0;
  #eventsLeft = false;

  constructor(options: StateOptions) {
    this.seed = options.seed ?? 1;
    this.#temporary = options.file === undefined ? mkdtempSync(join(tmpdir(), 'hirebridge-sandbox-')) : undefined;
    this.#db = new DatabaseSync(options.file ?? join(this.#temporary ?? '', 'state.db'));
    // A temporary store need not survive power loss; a named one survives a killed process in WAL mode with
    // synchronous=normal.
    const synchronous = options.file === undefined ? 'off' : 'normal';
    this.#db.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma cache_size = -16000;`);
    for (const tables of TABLES) this.#db.exec(tables);
    this.clock = this.#clockFrom(options);
    this.quirks = new Quirks(this.clock, this.seed);
  }

  /** The rows of a query. */
  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#prepare(sql).all(...values) as T[];
  }

  /** The first row of a query. */
  one<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined;
  }

  /** Number of rows of a table that fulfil the condition. */
  count(table: string, where: string, ...values: SQLInputValue[]): number {
    return this.one<{ n: number }>(`select count(*) as n from ${table} where ${where}`, ...values)?.n ?? 0;
  }

  /** Runs a statement; returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /**
   * The next number of a series, or the first of the next `count`; never given twice, also after a deletion. Counters
   * are written once a transaction: one statement per number took a third of the time of a large seed.
   */
  nextId(series: string, first = 1, count = 1): number {
    const last = this.#counters.get(series) ?? this.#savedCounter(series) ?? first - 1;
    this.#counters.set(series, last + count);
    this.#unsaved.add(series);
    if (this.#depth === 0) this.#saveCounters();
    return last + 1;
  }

  /** All or nothing. Inside another transaction it is a savepoint: its failure undoes only itself. */
  transaction<T>(work: () => T): T {
    const outer = this.#depth === 0;
    const name = `level${String(this.#depth)}`;
    this.#db.exec(outer ? 'begin immediate' : `savepoint ${name}`);
    this.#depth += 1;
    try {
      const result = work();
      if (outer) this.#saveCounters();
      this.#db.exec(outer ? 'commit' : `release ${name}`);
      return result;
    } catch (error) {
      this.#db.exec(outer ? 'rollback' : `rollback to ${name}; release ${name}`);
      if (outer) this.#forgetCounters();
      throw error;
    } finally {
      this.#depth -= 1;
      if (outer) this.#tellEvents();
    }
  }

  /** Notes that this transaction has events to deliver. */
  eventsWaiting(): void {
    this.#eventsLeft = true;
    if (this.#depth === 0) this.#tellEvents();
  }

  /** Numbers requests that bring no id of their own, since this start. */
  nextRequest(): number {
    this.#requests += 1;
    return this.#requests;
  }

  setting(name: string): string | undefined {
    return this.one<{ value: string }>('select value from settings where name = ?', name)?.value;
  }

  saveSetting(name: string, value: string): void {
    this.run(
      'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
      name,
      value,
    );
  }

  /** Moves a stepped clock and stores its time. */
  advance(ms: number): void {
    if (!isStepped(this.clock))
      throw new Error('Only a stepped clock is advanced by hand; start the sandbox with --clock stepped');
    this.clock.advance(ms);
    this.saveSetting('clock', String(this.clock.now()));
  }

  close(): void {
    this.closed = true;
    this.#statements.clear();
    this.#db.close();
    if (this.#temporary !== undefined) rmSync(this.#temporary, { recursive: true, force: true });
  }

  #clockFrom({ clock, startAt }: StateOptions): Clock {
    if (typeof clock === 'object') return clock;
    return clock === 'stepped' ? createSteppedClock(startAt ?? this.#savedTime() ?? DEFAULT_START) : createRealClock();
  }

  #savedTime(): number | undefined {
    const saved = this.setting('clock');
    return saved === undefined ? undefined : Number(saved);
  }

  #savedCounter(series: string): number | undefined {
    return this.one<{ value: number }>('select value from counters where name = ?', series)?.value;
  }

  #saveCounters(): void {
    for (const series of this.#unsaved) {
      const value = this.#counters.get(series) ?? 0;
      this.run(
        'insert into counters (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
        series,
        value,
      );
    }
    this.#unsaved.clear();
  }

  #forgetCounters(): void {
    this.#counters.clear();
    this.#unsaved.clear();
  }

  #tellEvents(): void {
    if (!this.#eventsLeft) return;
    this.#eventsLeft = false;
    this.onEvents?.();
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** One request and its answer, for debugging a client on the dashboard. */
interface Exchange {
  at: number;
  method: string;
  url: string;
  operation: string;
  /** Absent when no answer was sent. */
  status?: number | undefined;
  companyId?: number | undefined;
  requestId: string;
  fault?: string | undefined;
  ms: number;
  sent: string;
  answered: string;
}

const KEPT = 100;
const BODY_CHARS = 16_000;

/** The last exchanges, bodies included; only in memory, because a body may hold anything. */
class Exchanges {
  #kept: (Exchange & { seq: number })[] = [];
  #seq = 0;

  add(exchange: Exchange): void {
    this.#seq += 1;
    const { sent, answered } = exchange;
    this.#kept.push({ ...exchange, seq: this.#seq, sent: shortened(sent), answered: shortened(answered) });
    if (this.#kept.length > KEPT) this.#kept.shift();
  }

  /** The newest first. */
  list(companyId: number): (Exchange & { seq: number })[] {
    return this.#kept.filter((one) => one.companyId === undefined || one.companyId === companyId).toReversed();
  }
}

function shortened(body: string): string {
  if (body.length <= BODY_CHARS) return body;
  // Copied: a slice alone would keep the whole body in memory.
  const beginning = Buffer.from(body.slice(0, BODY_CHARS)).toString();
  return `${beginning}\n(${String(body.length - BODY_CHARS)} more characters)`;
}
