import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import type { SteppedClock } from '../../../src/sandbox/quirks.ts';

/** What this HR system does with what is written to it, and how its driver gives it. */
export interface HrHabits {
  /** Of the columns of numbers: as text, or as the database's own numbers. */
  numbers: 'text' | 'numeric';
  /** Names of places are kept in capitals. */
  capitals: boolean;
  trims: boolean;
  /** Characters that notes keep; none are cut where absent. */
  cuts?: number;
  /** Hours are kept with one decimal. */
  rounds: boolean;
  /** Reads go to a copy that is so late at most, milliseconds. */
  lateMs: number;
  /** A write can name the values that it was decided from. */
  compares: boolean;
}

export const COLUMNS = {
  city: 'text',
  mail: 'text',
  cost_centre: 'text',
  level: 'text',
  shifts: 'list',
  hours: 'number',
  pay: 'number',
  account: 'number',
  badge: 'boolean',
  probation_end: 'date',
  notes: 'text',
  spare: 'text',
  desk: 'text',
} as const;
export type Column = keyof typeof COLUMNS;
export const columnNames = Object.keys(COLUMNS) as Column[];

type Employees = HrisConnection['employees'];

/** A database of the customer's own, with triggers and a copy that the reads go to. */
export class StrangeHr {
  readonly #clock: SteppedClock;
  readonly #habits: HrHabits;
  readonly #lateness: () => number;
  readonly #folder: string;
  readonly #database: DatabaseSync;
  readonly #asked: Readonly<Record<'employees' | 'shown', StatementSync>>;
  readonly #open: HrisConnection[] = [];
  #latest = 0;

  static async create(clock: SteppedClock, habits: HrHabits, lateness: () => number): Promise<StrangeHr> {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-strange-'));
    return new StrangeHr(clock, habits, lateness, folder);
  }

  private constructor(clock: SteppedClock, habits: HrHabits, lateness: () => number, folder: string) {
    this.#clock = clock;
    this.#habits = habits;
    this.#lateness = lateness;
    this.#folder = folder;
    this.#database = new DatabaseSync(this.#file);
    const kinds: Readonly<Record<string, string>> = { number: habits.numbers, boolean: 'integer' };
    const declared = Object.entries(COLUMNS).map(([name, type]) => `${name} ${kinds[type] ?? 'text'}`);
    const own = ['id integer primary key', 'employee_number text', 'external_ref text', ...declared].join(', ');
    this.#database.exec('pragma journal_mode = wal; pragma synchronous = off');
    this.#database.exec(`create table employees (${own}); create table shown (${own})`);
    this.#database.exec('create unique index one_mail on employees (mail)');
    for (const statement of triggersOf(habits)) this.#database.exec(statement);
    const ask = (table: string): StatementSync => {
      const asked = this.#database.prepare(`select * from ${table} where id = ?`);
      asked.setReadBigInts(true);
      return asked;
    };
    this.#asked = { employees: ask('employees'), shown: ask('shown') };
  }

  async connect(fields: Readonly<Record<string, Column>>): Promise<HrisConnection> {
    const { compares, lateMs } = this.#habits;
    const named = Object.entries(fields).map(([name, column]) => [name, { column, type: COLUMNS[column] }]);
    const read = { readFrom: 'shown', readLag: `${lateMs}ms` };
    const options = { url: `sqlite:${this.#file}`, ...read, fields: Object.fromEntries(named) };
    const inUse = { employee: new Set(Object.keys(fields)), landing: {} };
    const hris = await openHris('sql', 'acme-hr', options, { inUse });
    this.#open.push(hris);
    const { amend, ...others } = hris.employees;
    const followed: Employees = {
      ...others,
      update: async (id, ...rest) => {
        await others.update(id, ...rest);
        this.#show(id);
      },
      ...(compares && {
        amend: async (...asked: Parameters<NonNullable<typeof amend>>) => {
          await amend?.(...asked);
          this.#show(asked[0]);
        },
      }),
    };
    return { ...hris, employees: followed };
  }

  add(reference: string): string {
    const added = this.#database.prepare('insert into employees (external_ref) values (?)');
    const { lastInsertRowid } = added.run(reference);
    const id = String(lastInsertRowid);
    this.#show(id);
    return id;
  }

  /** As a person does it with the HR system's own tools, which refuse an address that another employee has. */
  edit(id: string, column: Column, cell: unknown): void {
    const edit = this.#database.prepare(`update or ignore employees set ${column} = ? where id = ?`);
    edit.run(cell as SQLInputValue, Number(id));
    this.#show(id);
  }

  /** What the reads of the moment show. */
  shown(id: string): Record<string, unknown> {
    return this.#rowIn('shown', id);
  }

  row(id: string): Record<string, unknown> {
    return this.#rowIn('employees', id);
  }

  /** What a column makes of a value, in plain text. */
  kept(column: Column, text: string | null): string | null {
    return keptOf(this.#habits, column, text);
  }

  async close(): Promise<void> {
    for (const one of this.#open) await one.close();
    this.#database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#folder, 'hr.db');
  }

  #rowIn(table: 'employees' | 'shown', id: string): Record<string, unknown> {
    return { ...this.#asked[table].get(Number(id)) };
  }

  /** The copy follows, in the order of the changes. */
  #show(id: string): void {
    const now = this.row(id);
    const marks = Object.keys(now).map(() => '?');
    const copy = (): void => {
      const put = this.#database.prepare(
        `insert or replace into shown (${Object.keys(now).join()}) values (${marks.join()})`,
      );
      put.run(...(Object.values(now) as SQLInputValue[]));
    };
    const late = this.#habits.lateMs === 0 ? 0 : this.#lateness();
    this.#latest = Math.max(this.#latest, this.#clock.now() + late);
    if (this.#latest === this.#clock.now()) copy();
    else this.#clock.at(this.#latest, copy);
  }
}

const PLACES: readonly Column[] = ['city', 'cost_centre'];

/** The HR system's own doing, as its database does it. */
function triggersOf({ capitals, trims, cuts, rounds }: HrHabits): string[] {
  const after = (column: string, made: string): string =>
    `create trigger ${column}_kept after update of ${column} on employees when new.${column} is not null begin
      update employees set ${column} = ${made} where id = new.id; end`;
  const places = PLACES.map((column) => {
    const trimmed = trims ? `trim(new.${column})` : `new.${column}`;
    return after(column, `nullif(${capitals ? `upper(${trimmed})` : trimmed}, '')`);
  });
  const isNumber = "cast(new.hours as text) not glob '*[^0-9.-]*'";
  return [
    ...(capitals || trims ? places : []),
    ...(cuts === undefined ? [] : [after('notes', `nullif(substr(new.notes, 1, ${cuts}), '')`)]),
    ...(rounds ? [after('hours', `iif(${isNumber}, printf('%.1f', new.hours), new.hours)`)] : []),
  ];
}

/** The same, said once more for the judge. */
function keptOf({ capitals, trims, cuts, rounds }: HrHabits, column: Column, text: string | null): string | null {
  if (text === null) return null;
  if (PLACES.includes(column)) {
    const trimmed = trims ? text.replaceAll(/^ +| +$/g, '') : text;
    return (capitals ? trimmed.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()) : trimmed) || null;
  }
  if (column === 'notes' && cuts !== undefined) return Array.from(text).slice(0, cuts).join('') || null;
  return column === 'hours' && rounds && !Number.isNaN(Number(text)) ? Number(text).toFixed(1) : text;
}
