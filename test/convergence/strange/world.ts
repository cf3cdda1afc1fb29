import type { EmployeeFields, Side } from '../../../src/hire/hire.ts';
import type { Amendment, HrisConnection, WriteOptions } from '../../../src/hris/port.ts';
import type { Mapping } from '../../../src/mapping/load-mapping.ts';
import { createSteppedClock, type SteppedClock } from '../../../src/sandbox/quirks.ts';
import type { Random } from '../../../src/sandbox/random.ts';
import type { Echoes, SentForms } from '../../../src/store/exchange-pairs.ts';
import type { ExchangeStep } from '../../../src/streams/stream-activities.ts';
import { loadExchangeMapping } from '../../../src/tenants/open-hris.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { createStoreDouble, type StoreDouble } from '../../simulation/store-double.ts';
import { type Asked, type Conditions, exchange, type Parts } from '../process.ts';
import { linkPerson, type Person } from '../records.ts';
import { fields as allFields, type Field, isOne, ruleOf, SPARE } from './fields.ts';
import { History, type Joined, type Place, type Reader } from './history.ts';
import { COLUMNS, columnNames, type HrHabits, StrangeHr } from './hr.ts';
import { type PartnerHabits, StrangePartner, type Told } from './partner.ts';
import { type Kind, optionsOf, plain, type Typed } from './values.ts';

const KEY = 'sk_test_ConvergenceSeed0123456';
const FILE = '/convergence/employees.yaml';
/** Both sides of a page are read within. */
const READ_WITHIN_MS = 5_000;
const START = Date.UTC(2026, 0, 5, 9);

export interface Habits {
  partner: PartnerHabits;
  hr: HrHabits;
}

type InForce = Pick<Parts, 'hris' | 'tenant' | 'mapping'> & { fields: readonly Field[] };

/** A partner, an HR system and a history of their own; store and product are the real ones. */
export class StrangeWorld {
  readonly clock: SteppedClock;
  readonly store: StoreDouble;
  readonly history = new History();
  readonly partner: StrangePartner;
  readonly hr: StrangeHr;
  readonly people: Person[] = [];
  readonly #habits: Habits;
  readonly #everLabelled = new Map<string, Set<string>>();
  #inForce!: InForce;
  /** When the request left that is being carried out, where it comes late. */
  #left: number | undefined;

  static async create(habits: Habits, random: Random, fields: readonly Field[]): Promise<StrangeWorld> {
    const clock = createSteppedClock(START);
    const store = await createStoreDouble(clock.now);
    const hr = await StrangeHr.create(clock, habits.hr, () => Math.floor(random() * habits.hr.lateMs));
    const world = new StrangeWorld(habits, { clock, store, hr });
    world.#inForce = await world.#load(fields);
    return world;
  }

  private constructor(habits: Habits, { clock, store, hr }: Pick<StrangeWorld, 'clock' | 'store' | 'hr'>) {
    this.clock = clock;
    this.store = store;
    this.hr = hr;
    this.partner = new StrangePartner(habits.partner);
    this.#habits = habits;
    for (const { at, kind } of allFields)
      if ('label' in at && kind !== 'email') this.partner.define(at.label, kind, optionsOf(kind));
    this.partner.define(SPARE, 'text');
  }

  get fields(): readonly Field[] {
    return this.#inForce.fields;
  }

  hire(): Person {
    const { candidateId, jobCandidateId } = this.partner.add(this.people.length + 1);
    const person = { candidateId, jobCandidateId, employeeId: this.hr.add(`1:${candidateId}`) };
    this.people.push(person);
    linkPerson(this.store, person, this.clock.now());
    return person;
  }

  /** The mapping says something else from now on. */
  async remap(fields: readonly Field[]): Promise<void> {
    const before = this.fields;
    this.#inForce = await this.#load(fields);
    const others = [...before, ...fields].filter(
      (one) => ![before, fields].every((all) => all.some((f) => isOne(f, one))),
    );
    for (const one of others) for (const at of [one.column, ...this.#everAt(one)]) this.history.changed(at);
    this.history.changed('*');
    for (const person of this.people) this.#noteAgreed(person);
  }

  edit(person: Person, field: Field, side: Side, value: Typed | null): void {
    // There may be no such field at the moment.
    const at = side === 'hris' ? field.column : this.#placesOf(field)[0];
    if (at === undefined) return;
    if (side === 'hris') this.hr.edit(person.employeeId, field.column, value?.hr ?? null);
    else this.partner.edit({ candidateId: person.candidateId, place: at }, value?.partner ?? null);
    const place = { side, record: idOn(side, person), at };
    const text = this.#textOf(place);
    this.history.edited(place, text, { isUnderWay: this.#isBegun(person, field, place, text) });
    this.#noteAgreed(person);
  }

  move(person: Person): void {
    const country = this.isHere(person) ? 'FR' : 'DE';
    this.partner.edit({ candidateId: person.candidateId, place: 'country' }, country);
    this.history.changed('desk');
  }

  isHere({ candidateId }: Person): boolean {
    return this.partner.valueAt({ candidateId, place: 'country' }) === 'DE';
  }

  textAt(person: Person, field: Field, side: Side): string | null {
    const at = side === 'hris' ? field.column : this.#placesOf(field)[0];
    return at === undefined ? null : this.#textOf({ side, record: idOn(side, person), at });
  }

  /** Whether what one side holds is what it makes of the other's. */
  isSame({ kind, column, at }: Field, atPartner: string | null, atHr: string | null): boolean {
    if (atPartner === atHr) return true;
    const { partner, hr } = this.#habits;
    const isCapital = kind === 'text' && (partner.capitals || hr.capitals);
    if (isCapital && atPartner?.toLowerCase() === atHr?.toLowerCase()) return true;
    const kept = 'property' in at && kind === 'text' ? 'textarea' : kind;
    const asPartner = plain(kind, this.partner.kept(kept, valueOf(kind, atHr)));
    return plain(kind, this.hr.kept(column, atPartner)) === atHr || asPartner === atPartner;
  }

  hint(person: Person, side: Side): void {
    this.store.all(
      `insert into hints (tenant_id, stream, record_id, hinted_at) values ('acme', 'employees', ?, ?)
        on conflict (tenant_id, stream, record_id) do update set hinted_at = excluded.hinted_at`,
      idOn(side, person),
      this.clock.now(),
    );
  }

  run(runId: string, reader: Reader, conditions: Conditions, asked: Asked): Promise<ExchangeStep> {
    const { fields, ...parts } = this.#inForce;
    const answer: Parts['answer'] = (request) => this.partner.answer(request, this.#told(reader, fields));
    const common = { key: KEY, answer, store: this.store, stream: 'employees' as const };
    const hris = this.#watched(parts.hris, reader, fields);
    const later: Conditions['later'] = (carryOut) => conditions.later(this.#leaving(carryOut));
    const writes = { partner: 0, hris: 0 };
    return exchange({ ...common, ...parts, hris, writes }, runId, { ...conditions, later }, asked);
  }

  close(): Promise<void> {
    return this.hr.close();
  }

  /** A request that leaves now, and is carried out later. */
  #leaving(carryOut: () => void): () => void {
    const { latest } = this.history;
    return () => {
      this.#left = latest;
      carryOut();
      this.#left = undefined;
    };
  }

  async #load(fields: readonly Field[]): Promise<InForce> {
    const tenant = tenantOf(fields);
    const hris = await this.hr.connect(Object.fromEntries(fields.map(({ name, column }) => [name, column])));
    return { fields, hris, tenant, mapping: (await loadExchangeMapping(tenant, 'employees')) as Mapping };
  }

  /** Where a field stands at the partner now. */
  #placesOf({ at }: Field): string[] {
    if ('property' in at) return [at.property];
    return this.partner.definitions.filter(({ label }) => label === at.label).map(({ id }) => id);
  }

  /** Under each definition that has, or had, its label. */
  #everAt(field: Field): string[] {
    if ('property' in field.at) return [field.at.property];
    const known = this.#everLabelled.get(field.at.label) ?? new Set();
    this.#everLabelled.set(field.at.label, known);
    for (const id of this.#placesOf(field)) known.add(id);
    return [...known];
  }

  #joinedAt(person: Person, fields: readonly Field[], here: Place): Joined[] {
    return fields.flatMap((field) => {
      const hris: Place = { side: 'hris', record: person.employeeId, at: field.column };
      const { owner, keeps } = field;
      return this.#everAt(field).flatMap((at): Joined[] => {
        const partner: Place = { side: 'partner', record: person.candidateId, at };
        if (here.side === 'hris' ? here.at !== field.column : here.at !== at) return [];
        const isSame = (a: string | null, b: string | null): boolean => this.isSame(field, a, b);
        return here.side === 'hris'
          ? [{ here: hris, there: partner, owner, keeps, isSame: (a, b) => isSame(b, a) }]
          : [{ here: partner, there: hris, owner, keeps, isSame }];
      });
    });
  }

  #joinedIn(person: Person, fields: readonly Field[]): Joined[] {
    return fields.flatMap((field) =>
      this.#joinedAt(person, [field], { side: 'hris', record: person.employeeId, at: field.column }),
    );
  }

  #noteAgreed(person: Person): void {
    for (const joined of this.#joinedIn(person, this.fields)) this.history.agreed(joined);
  }

  #noteCompared(reader: Reader, person: Person, fields: readonly Field[]): void {
    const isHeard = !this.#settles(person);
    for (const joined of this.#joinedIn(person, fields)) this.history.compared(reader, joined, isHeard);
  }

  /** What is read of a pair so soon after a write of it was begun may tell it nothing: it reads again later. */
  #settles({ employeeId }: Person): boolean {
    const until = this.clock.now() - READ_WITHIN_MS;
    const asked = 'select 1 from exchange_pairs where pair_id = ? and settles_at >= ?';
    return this.store.all(asked, employeeId, until).length > 0;
  }

  /** A write to this place that empties it, or one that fills it, was begun, and nobody has heard of its end. */
  #isBegun({ employeeId }: Person, { name }: Field, { side }: Place, text: string | null): boolean {
    const asked = 'select sent, echoes from exchange_pairs where pair_id = ?';
    return this.store.all<{ sent: string; echoes: string }>(asked, employeeId).some(({ sent, echoes }) => {
      const write = (JSON.parse(sent) as SentForms)[name];
      const kept = (JSON.parse(echoes) as Echoes)[name];
      const form = write?.to === side ? write.form : kept?.to === side ? kept.doubt : undefined;
      return form !== undefined && (form === '') === (text === null);
    });
  }

  #personOf(side: Side, record: string): Person {
    const found = this.people.find((one) => idOn(side, one) === record);
    if (found === undefined) throw new Error(`${record} is nobody's`);
    return found;
  }

  #textOf(place: Place): string | null {
    const { side, record, at } = place;
    const value = side === 'hris' ? this.hr.row(record)[at] : this.partner.valueAt({ candidateId: record, place: at });
    return plain(this.#kindAt(place), value);
  }

  /** Of a place, whatever field it belongs to now. */
  #kindAt({ side, at }: Place): Kind {
    if (side === 'hris') return allFields.find(({ column }) => column === at)?.kind ?? 'textarea';
    return this.partner.definitions.find(({ id }) => id === at)?.kind ?? (at === 'email' ? 'email' : 'text');
  }

  /** What one process reads and writes at the partner. */
  #told(reader: Reader, fields: readonly Field[]): Told {
    return {
      read: (record, shown) => {
        const profile = shown.includes('profile') ? ['city', 'email'] : [];
        const values = shown.includes('values') ? this.partner.definitions.map(({ id }) => id) : [];
        for (const at of [...profile, ...values]) {
          const place: Place = { side: 'partner', record, at };
          this.history.read(reader, place, this.#textOf(place), { at: this.clock.now(), isSure: true });
        }
        this.#noteCompared(reader, this.#personOf('partner', record), fields);
      },
      wrote: ({ candidateId: record, place: at }, value) => {
        const place: Place = { side: 'partner', record, at };
        const person = this.#personOf('partner', record);
        const joined = this.#joinedAt(person, fields, place);
        const by = { reader, joined, holds: false, at: this.clock.now(), left: this.#left };
        this.history.wrote(place, plain(this.#kindAt(place), value), by);
        this.#noteAgreed(person);
      },
    };
  }

  /** The same of the HR system, whose copy may change while it is read. */
  #watched(hris: HrisConnection, reader: Reader, fields: readonly Field[]): HrisConnection {
    const { amend, read, update, ...others } = hris.employees;
    const noteRead = (record: string, earlier?: Record<string, unknown>): Record<string, unknown> => {
      const row = this.hr.shown(record);
      for (const at of columnNames) {
        const place: Place = { side: 'hris', record, at };
        const text = plain(this.#kindAt(place), row[at]);
        const isSure = earlier !== undefined && earlier[at] === row[at];
        this.history.read(reader, place, text, { at: this.clock.now(), isSure });
      }
      this.#noteCompared(reader, this.#personOf('hris', record), fields);
      return row;
    };
    const write = async (id: string, values: EmployeeFields, send: () => Promise<void> | undefined) => {
      const before = this.hr.row(id);
      await send();
      this.#noteWritten(id, { before, values, reader, fields });
    };
    const employees: HrisConnection['employees'] = {
      ...others,
      async read(id, signal) {
        const before = noteRead(id);
        const record = await read(id, signal);
        noteRead(id, before);
        return record;
      },
      update: (id, values, options) => write(id, values, () => update(id, values, options)),
      ...(amend && {
        amend: (id: string, change: Amendment, options: WriteOptions) =>
          write(id, change.fields, () => amend(id, change, options)),
      }),
    };
    return { ...hris, employees };
  }

  #noteWritten(record: string, { before, values, reader, fields }: Written): void {
    const after = this.hr.row(record);
    const person = this.#personOf('hris', record);
    const sent = new Map(fields.filter(({ name }) => name in values).map(({ name, column }) => [column, values[name]]));
    for (const at of new Set([...sent.keys(), ...columnNames.filter((one) => before[one] !== after[one])])) {
      const place: Place = { side: 'hris', record, at };
      const [kind, text, known] = [this.#kindAt(place), this.#textOf(place), this.history.textAt(place)];
      const by = { reader, holds: this.#habits.hr.compares, at: this.clock.now() };
      const kept = this.hr.kept(at, plain(kind, sent.get(at)));
      // Somebody edited it in the same moment.
      if (text === known && (!sent.has(at) || plain(kind, kept) !== text)) {
        if (sent.has(at)) this.history.wroteBefore(place, plain(kind, kept), by);
        continue;
      }
      const joined = sent.has(at) ? this.#joinedAt(person, fields, place) : [];
      this.history.wrote(place, text, { ...by, joined });
    }
    this.#noteAgreed(person);
  }
}

/** What a process sent to an employee, and what they held before. */
interface Written {
  before: Record<string, unknown>;
  values: EmployeeFields;
  reader: Reader;
  fields: readonly Field[];
}

function idOn(side: Side, { candidateId, employeeId }: Person): string {
  return side === 'hris' ? employeeId : candidateId;
}

function tenantOf(fields: readonly Field[]): Tenant {
  const columns = fields.map(({ name, column }) => [name, { column, type: COLUMNS[column] }]);
  const options = { url: 'sqlite::memory:', fields: Object.fromEntries(columns) };
  return {
    tenant: 'acme',
    mode: 'live',
    partner: { company: '1' },
    hris: { kind: 'sql', connection: 'acme-hr', options },
    mapping: FILE,
    streams: { employees: { mapping: FILE }, positions: {}, jobs: {}, candidates: {} },
    writeBack: { values: [] },
    policies: {},
    files: { [FILE]: `fields:\n${fields.map(ruleOf).join('\n')}\n` },
  } as unknown as Tenant;
}

/** A plain text as the partner takes it. */
function valueOf(kind: Kind, text: string | null): unknown {
  if (text === null) return null;
  if (kind === 'number') return Number(text);
  if (kind === 'checkbox') return text === 'true';
  if (kind !== 'multi-select') return text;
  return text.startsWith('[') ? (JSON.parse(text) as unknown) : text;
}
