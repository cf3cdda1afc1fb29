import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields, FieldValue } from '../../src/hire/employee.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import type { Mapping } from '../../src/mapping/load-mapping.ts';
import type { OpenTenant } from '../../src/operator/open-tenant.ts';
import { readMultiSelect } from '../../src/partner/contract/custom-field-values.ts';
import { createSteppedClock, type SteppedClock } from '../../src/sandbox/clock.ts';
import { handle } from '../../src/sandbox/handle.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import type { SandboxState } from '../../src/sandbox/state.ts';
import type { ExchangeStep } from '../../src/streams/exchange-activities.ts';
import { landings, type StreamName } from '../../src/streams/streams.ts';
import { loadExchangeMapping } from '../../src/tenants/open-hris.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { createStoreDouble, type StoreDouble } from '../simulation/store-double.ts';
import { asInput, mappingText, type TwoWayField, twoWayFields } from './fields.ts';
import { type Asked, type Conditions, exchange, openProcess, type Parts } from './process.ts';

const KEY = 'sk_test_ConvergenceSeed0123456';
const FILE = '/convergence/employees.yaml';
const START = Date.UTC(2026, 0, 5, 9);
/** A linked candidate and employee. */
export interface Person {
  candidateId: string;
  jobCandidateId: string;
  employeeId: string;
}

export interface World {
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
  /** One activity of a run, as a new process would begin it. */
  exchange: (runId: string, conditions: Conditions, asked?: Asked) => Promise<ExchangeStep>;
  hint: (recordId: string) => void;
  /** Both ends as a command of a person has them. */
  open: (conditions: Conditions) => OpenTenant;
  close: () => Promise<void>;
}

/** As the options of the HR system name them. */
export function hrisFields(fields: readonly TwoWayField[]) {
  return Object.fromEntries(fields.map(({ name, column, type }) => [name, { column, type }]));
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

/** A sandbox, an HR system and a store in memory, each the real one; only network and time are the test's. */
export async function createWorld(rules = mappingText(), carried = exchanged): Promise<World> {
  const { stream, map, fields = twoWayFields } = carried;
  const clock = createSteppedClock(START);
  const { state } = createSandboxState({ file: ':memory:', seed: 7, clock, key: KEY, jobs: 0, candidates: 0 });
  const store = await createStoreDouble(clock.now);
  const gone = new Set<string>();
  const options = { url: 'sqlite::memory:', createTable: true, fields: hrisFields(fields) };
  const hris = withoutGone(await openHris('sql', 'acme-hr', options, { landings }), gone);
  const writes = { partner: 0, hris: 0 };
  const call = calling(state);
  const ids = defineFields(call, fields);
  const job = call('POST', '/jobs', { title: 'Engineer', city: 'Berlin', state: '', country: 'DE', status: 'ACTIVE' });
  const tenant = tenantOf(rules, options);
  const mapping = mappings.get(rules) ?? map(tenant);
  mappings.set(rules, mapping);
  const parts: Parts = { key: KEY, state, store, hris, writes, tenant, stream, mapping: await mapping };
  let people = 0;
  return {
    clock,
    state,
    store,
    hris,
    writes,
    hire: () => hire(parts, call, { jobId: job['id'], nth: (people += 1), now: clock.now() }),
    editPartner: (person, { at, name }, value) => {
      if ('property' in at) call('PATCH', `/candidates/${person.candidateId}`, { [at.property]: value ?? '' });
      else {
        const entity = { entityType: 'candidate', entityId: person.candidateId };
        call('POST', '/custom-field-values', { customFieldId: ids.get(name), ...entity, value: asInput(value) });
      }
    },
    editHris: (person, { name }, value) => hris.employees.update(person.employeeId, { [name]: value }, atOnce()),
    read: (person) => readBoth(parts, call, { ids, fields }, person),
    removeCandidate: ({ jobCandidateId }) => void call('DELETE', `/job-candidates/${jobCandidateId}`),
    removeEmployee: ({ employeeId }) => void gone.add(employeeId),
    exchange: (runId, conditions, asked) => exchange(parts, runId, conditions, asked),
    open: (conditions) => openProcess(parts, conditions),
    hint: (recordId) => addHint(store, clock.now(), recordId),
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
  const update: typeof employees.update = async (id, fields, options) => {
    if (gone.has(id)) throw new ConnectorError({ code: 'EMPLOYEE_NOT_FOUND', action: 'reject', message: 'Nobody.' });
    return employees.update(id, fields, options);
  };
  return { ...hris, employees: { ...employees, read, update } };
}

type Call = (method: string, path: string, body?: unknown) => Record<string, unknown>;

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

/** A job has a custom field of the same label and other options: it stands first in the list. */
function defineFields(call: Call, fields: readonly TwoWayField[]): Map<string, string> {
  call('POST', '/custom-fields', { entityType: 'job', fieldLabel: 'Level', fieldType: 'select', options: ['I', 'II'] });
  return new Map(
    fields.flatMap(({ name, at }) => {
      if ('property' in at) return [];
      const { label: fieldLabel, fieldType, options } = at;
      const made = call('POST', '/custom-fields', { entityType: 'candidate', fieldLabel, fieldType, options });
      return [[name, String(made['id'])]];
    }),
  );
}

function tenantOf(rules: string, options: Record<string, unknown>): Tenant {
  return {
    tenant: 'acme',
    mode: 'live',
    hris: { kind: 'sql', connection: 'acme-hr', options },
    mapping: FILE,
    streams: { employees: { mapping: FILE }, jobs: {}, candidates: {} },
    writeBack: { values: [] },
    files: { [FILE]: rules },
  } as unknown as Tenant;
}

function atOnce() {
  return { signal: new AbortController().signal, beforeSend: () => undefined };
}

async function hire(
  { hris, store }: Parts,
  call: Call,
  { jobId, nth, now }: { jobId: unknown; nth: number; now: number },
): Promise<Person> {
  const profile = { firstName: 'Ada', lastName: `Number ${nth}`, email: `ada${nth}@example.com`, country: 'DE' };
  const parsed = { city: 'Berlin', shouldParseResume: false, educations: [], workExperiences: [] };
  const added = call('POST', '/candidates', { ...profile, ...parsed, jobId });
  const fields = { givenName: 'Ada', familyName: `Number ${nth}`, email: profile.email, startDate: '2026-02-01' };
  const made = await hris.employees.create(fields, `ref-${nth}`, atOnce());
  const employeeId = made.kind === 'created' ? made.ref.id : '';
  const person = { candidateId: String(added['id']), jobCandidateId: String(added['jobCandidateId']), employeeId };
  store.all(
    `insert into links (connection, employee_id, employee_number, partner_company, candidate_id, tenant_id,
      job_candidate_id, period, linked_at) values ('acme-hr', ?, null, '1', ?, 'acme', ?, 1, ?)`,
    employeeId,
    person.candidateId,
    person.jobCandidateId,
    now,
  );
  return person;
}

async function readBoth({ hris }: Parts, call: Call, places: Places, { candidateId, employeeId }: Person) {
  const employee = await hris.employees.read(employeeId, atOnce().signal);
  if (employee === undefined) return undefined;
  const candidate = call('GET', `/candidates/${candidateId}`);
  const query = `entityType=candidate&entityId=${candidateId}`;
  const values = call('GET', `/custom-field-values?${query}`) as unknown as ShownValue[];
  return { partner: atPartner(candidate, values, places), hris: employee.fields };
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

/** A candidate's two-way fields in the HR system's form. */
export function atPartner(
  candidate: Record<string, unknown>,
  values: readonly ShownValue[],
  { fields, ids }: Places,
): EmployeeFields {
  const shown = fields.map(({ name, at, type }) => {
    if ('property' in at) return [name, candidate[at.property] ?? null];
    const value = values.find(({ customFieldId }) => String(customFieldId) === ids.get(name))?.value ?? null;
    return [name, type === 'list' ? (readMultiSelect(value) ?? null) : value];
  });
  return Object.fromEntries(shown) as EmployeeFields;
}

function addHint(store: StoreDouble, now: number, recordId: string): void {
  store.all(
    `insert into hints (tenant_id, stream, record_id, hinted_at) values ('acme', 'employees', ?, ?)
      on conflict (tenant_id, stream, record_id) do update set hinted_at = excluded.hinted_at`,
    recordId,
    now,
  );
}
