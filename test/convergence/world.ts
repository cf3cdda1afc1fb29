import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields, FieldValue } from '../../src/hire/hire.ts';
import type { HrisConnection, Requisitions } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { OpenTenant } from '../../src/operator/open-tenant.ts';
import { readMultiSelect } from '../../src/partner/contract/custom-fields.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import { createSteppedClock, type SteppedClock } from '../../src/sandbox/quirks.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { PairEntity } from '../../src/store/linked-pairs.ts';
import type { ExchangeStep } from '../../src/streams/stream-activities.ts';
import { entityOf, landings, type StreamName } from '../../src/streams/streams.ts';
import { loadExchangeMapping } from '../../src/tenants/open-hris.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { createStoreDouble, type StoreDouble } from '../simulation/store-double.ts';
import { asInput, mappingText, positionFields, type TwoWayField, twoWayFields } from './fields.ts';
import { type Asked, type Conditions, exchange, openProcess, type Parts } from './process.ts';
import { type Call, type Person, people, positions, type Records } from './records.ts';

const KEY = 'sk_test_ConvergenceSeed0123456';
const FILE = '/convergence/employees.yaml';
const START = Date.UTC(2026, 0, 5, 9);

export interface World {
  /** What is exchanged. */
  fields: readonly TwoWayField[];
  clock: SteppedClock;
  state: SandboxState;
  store: StoreDouble;
  hris: HrisConnection;
  /** Values sent to either side so far. */
  writes: { partner: number; hris: number };
  hire: () => Promise<Person>;
  editPartner: (person: Person, field: TwoWayField, value: FieldValue) => void;
  editHris: (person: Person, field: TwoWayField, value: FieldValue) => Promise<void>;
  /** Both sides' values of one person, in the HR system's form. */
  read: (person: Person) => Promise<{ partner: EmployeeFields; hris: EmployeeFields } | undefined>;
  removeCandidate: (person: Person) => void;
  removeEmployee: (person: Person) => void;
  /** They were shown to nobody for a while. */
  returnEmployee: (person: Person) => void;
  /** One activity of a run, as a new process would begin it. */
  exchange: (runId: string, conditions: Conditions, asked?: Asked) => Promise<ExchangeStep>;
  hint: (recordId: string) => void;
  /** A person looked at what a first pass, or a large one, would write: the next whole pass may. */
  allowMany: (codes?: string) => void;
  /** A request of a person at the partner, carried out at once. */
  call: Call;
  /** Custom fields by the name of their field. */
  ids: Map<string, string>;
  /** The tenant's files say something else from now on; with other options the HR system is opened anew. */
  remap: (rules: string, options?: Record<string, unknown>) => Promise<void>;
  /** Both ends as a command of a person has them. */
  open: (conditions: Conditions) => OpenTenant;
  close: () => Promise<void>;
}

/** As the options of the HR system name them. */
export function hrisFields(fields: readonly TwoWayField[]) {
  return Object.fromEntries(fields.map(({ name, column, type }) => [name, { column, type }]));
}

/** Positions have fields of the same names, and those that the adapter gives them. */
function positionsTable(fields: Record<string, { column: string }>) {
  const own = { description: { column: 'title' }, state: { column: 'city' } };
  return { table: 'employees', fields: { ...own, ...fields } };
}

const mappings = new Map<string, Promise<Mapping | undefined>>();

/** What runs there, and how it is mapped. */
export interface Carried {
  stream: StreamName;
  map: (tenant: Tenant) => Promise<Mapping | undefined>;
  /** Where absent, one of every type of custom field, and one of the profile. */
  fields?: readonly TwoWayField[];
}

export const exchanged: Carried = { stream: 'employees', map: (tenant) => loadExchangeMapping(tenant, 'employees') };

/** Jobs and the open positions that they were made of. */
export const exchangedPositions: Carried = {
  stream: 'positions',
  map: (tenant) => loadExchangeMapping(tenant, 'positions'),
  fields: positionFields,
};

/** A sandbox, an HR system and a store in memory, each the real one; only network and time are the test's. */
export async function createWorld(
  given?: string,
  carried = exchanged,
  more: Record<string, unknown> = {},
): Promise<World> {
  const { stream, map, fields = twoWayFields } = carried;
  const entity = entityOf(stream);
  const rules = given ?? mappingText(fields, entity);
  const clock = createSteppedClock(START);
  const { state } = createSandboxState({ file: ':memory:', seed: 7, clock, key: KEY, jobs: 0, candidates: 0 });
  const store = await createStoreDouble(clock.now);
  const gone = new Set<string>();
  const columns = hrisFields(fields);
  const options = {
    url: 'sqlite::memory:',
    createTable: true,
    fields: columns,
    requisitions: positionsTable(columns),
    ...more,
  };
  const hris = withoutGone(await openHris('sql', 'acme-hr', options, { landings }), gone);
  const writes = { partner: 0, hris: 0 };
  const call = calling(state);
  const ids = defineFields(call, entity, fields);
  const tenant = tenantOf(rules, options);
  const mapping = mappings.get(rules) ?? map(tenant);
  mappings.set(rules, mapping);
  const answer: Parts['answer'] = (request) => handle(state, request);
  const parts: Parts = { key: KEY, answer, store, hris, writes, tenant, stream, mapping: await mapping };
  const records = (entity === 'job' ? positions : people)({ call, state, store, hris });
  let added = 0;
  return {
    fields,
    clock,
    state,
    store,
    hris,
    writes,
    call,
    ids,
    remap: async (other, changed) => {
      if (changed !== undefined)
        parts.hris = withoutGone(await openHris('sql', 'acme-hr', { ...options, ...changed }, { landings }), gone);
      parts.tenant = tenantOf(other, { ...options, ...changed });
      parts.mapping = await map(parts.tenant);
    },
    hire: () => records.add((added += 1), clock.now()),
    editPartner: (person, { at, name }, value) => {
      if ('property' in at) call('PATCH', `/candidates/${person.candidateId}`, { [at.property]: value ?? '' });
      else {
        const of = { entityType: entity, entityId: person.candidateId };
        call('POST', '/custom-field-values', { customFieldId: ids.get(name), ...of, value: asInput(value) });
      }
    },
    editHris: (person, { name }, value) => records.editHris(person, { [name]: value }),
    read: (person) => readBoth(records, call, { ids, fields, entity }, person),
    removeCandidate: (person) => records.removePartner(person),
    removeEmployee: ({ employeeId }) => void gone.add(employeeId),
    returnEmployee: ({ employeeId }) => void gone.delete(employeeId),
    exchange: (runId, conditions, asked) => exchange(parts, runId, conditions, asked),
    open: (conditions) => openProcess(parts, conditions),
    allowMany: (codes = 'FIRST_MEETING MASS_CHANGE MASS_EMPTIED') => {
      store.all(
        `insert into stream_states (tenant_id, stream, allowed_code) values ('acme', ?, ?)
          on conflict (tenant_id, stream) do update set allowed_code = excluded.allowed_code`,
        stream,
        codes,
      );
    },
    hint: (recordId) => addHint(store, { stream, recordId, now: clock.now() }),
    close: async () => {
      await hris.close();
      state.close();
    },
  };
}

/** An HR system that deleted some employees. */
function withoutGone(hris: HrisConnection, gone: ReadonlySet<string>): HrisConnection {
  const { employees } = hris;
  const read: typeof employees.read = async (id, signal) => (gone.has(id) ? undefined : employees.read(id, signal));
  const assertThere = (id: string): void => {
    if (gone.has(id)) throw new ConnectorError({ code: 'EMPLOYEE_NOT_FOUND', action: 'reject', message: 'Nobody.' });
  };
  const update: typeof employees.update = async (id, fields, options) => {
    assertThere(id);
    return employees.update(id, fields, options);
  };
  const amend: typeof employees.amend = async (id, amendment, options) => {
    assertThere(id);
    return employees.amend?.(id, amendment, options);
  };
  const { requisitions } = hris;
  if (requisitions === undefined) throw new Error('the HR system of this world tells its positions');
  const readOpen: Requisitions['read'] = async (ids, signal) =>
    requisitions.read(
      ids.filter((id) => !gone.has(id)),
      signal,
    );
  return {
    ...hris,
    employees: { ...employees, read, update, amend },
    requisitions: { ...requisitions, read: readOpen },
  };
}

/** A request of a person at the partner, carried out at once. */
function calling(state: SandboxState): Call {
  return (method, path, body) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const answer = handle(state, {
      method,
      url: `/v1/partner${path}`,
      headers,
      body: body === undefined ? '' : JSON.stringify(body),
    });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    const parsed = JSON.parse(answer.body) as Record<string, unknown>;
    return (parsed['data'] ?? parsed) as Record<string, unknown>;
  };
}

/** Another kind of record has a custom field of the same label and other options: it stands first in the list. */
function defineFields(call: Call, entity: PairEntity, fields: readonly TwoWayField[]): Map<string, string> {
  const entityType = entity === 'job' ? 'candidate' : 'job';
  call('POST', '/custom-fields', { entityType, fieldLabel: 'Level', fieldType: 'select', options: ['I', 'II'] });
  return new Map(
    fields.flatMap(({ name, at }) => {
      if ('property' in at) return [];
      const { label: fieldLabel, fieldType, options } = at;
      const made = call('POST', '/custom-fields', { entityType: entity, fieldLabel, fieldType, options });
      return [[name, String(made['id'])]];
    }),
  );
}

function tenantOf(rules: string, options: Record<string, unknown>): Tenant {
  return {
    tenant: 'acme',
    mode: 'live',
    partner: { company: '1' },
    hris: { kind: 'sql', connection: 'acme-hr', options },
    mapping: FILE,
    streams: { employees: { mapping: FILE }, positions: { mapping: FILE }, jobs: {}, candidates: {} },
    writeBack: { values: [] },
    policies: {},
    files: { [FILE]: rules },
  } as unknown as Tenant;
}

async function readBoth(records: Records, call: Call, { entity, ...places }: Places & { entity: string }, one: Person) {
  const hris = await records.readHris(one);
  if (hris === undefined) return undefined;
  const query = `entityType=${entity}&entityId=${one.candidateId}`;
  const values = call('GET', `/custom-field-values?${query}`) as unknown as ShownValue[];
  return { partner: atPartner(records.readPartner(one), values, places), hris };
}

interface ShownValue {
  customFieldId: string | number;
  value?: unknown;
}

/** Two-way fields, and the ids of their custom fields by name. */
interface Places {
  fields: readonly TwoWayField[];
  ids: ReadonlyMap<string, string>;
}

/** A record's two-way fields in the HR system's form. */
export function atPartner(
  record: Record<string, unknown>,
  values: readonly ShownValue[],
  { fields, ids }: Places,
): EmployeeFields {
  const shown = fields.map(({ name, at, type }) => {
    if ('property' in at) return [name, record[at.property] ?? null];
    const value = values.find(({ customFieldId }) => String(customFieldId) === ids.get(name))?.value ?? null;
    return [name, type === 'list' ? (readMultiSelect(value) ?? null) : value];
  });
  return Object.fromEntries(shown) as EmployeeFields;
}

function addHint(
  store: StoreDouble,
  { stream, recordId, now }: { stream: string; recordId: string; now: number },
): void {
  store.all(
    `insert into hints (tenant_id, stream, record_id, hinted_at) values ('acme', ?, ?, ?)
      on conflict (tenant_id, stream, record_id) do update set hinted_at = excluded.hinted_at`,
    stream,
    recordId,
    now,
  );
}
