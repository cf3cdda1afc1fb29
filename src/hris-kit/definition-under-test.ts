import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { rejected } from '../errors.ts';
import type { EmployeeFields, FieldValue, Found } from '../hire/hire.ts';
import { type CommonOptions, type OpenDefinition, openDefinition } from '../hris/http/http.ts';
import type { FieldPlan, HttpDefinition } from '../hris/http/load-definition.ts';
import { noLimits } from '../hris/http-line.ts';
import type { CreateResult, HrisConnection } from '../hris/port.ts';
import {
  emailOf,
  type HrisProfile,
  type HrisUnderTest,
  httpPowers,
  type Need,
  offers,
  type Powers,
  type Spell,
  signal,
  write,
} from './hris-under-test.ts';
import { PURPOSE, startHttpProxy } from './http-proxy.ts';

/** A request that was made, as in the definition: without any value. */
export interface MadeRequest {
  /** `GET /staff/{id}`, and its purpose. */
  what: string;
  status: number | 'no answer';
  /** `acme-hr.yaml:31:3`. */
  at: string;
}

/** A definition used with a customer's own test account. */
export interface DefinitionUnderTest extends HrisUnderTest {
  /** Begins a case: resets its counts and requests. */
  begin(): void;
  /** The requests of the case, latest last. */
  requests(): readonly MadeRequest[];
  /** Removes the test employees. Returns the ids of those that are left, and why others may be. */
  clear(): Promise<{ removed: number; ended: string[]; left: string[]; unknown?: string }>;
}

export interface Account {
  definition: HttpDefinition;
  options: CommonOptions;
  /** By field, values that this account needs. */
  values: Readonly<Record<string, string>>;
  /** This account assigns no employee numbers at once, even if the definition has a place for them. */
  noNumbers?: boolean | undefined;
}

/** Employees for the case about pages of changes; a test account is not filled for it. */
const PEOPLE = 8;
const FINISHED_MS = 300_000;
/** A longer `readLag` is for people who finish something there, or would make the suite endless. */
const MOST_LAG_MS = 60_000;

/** Every test employee carries the mark of its run in the name, the address and our reference. */
export function definitionUnderTest({ definition, options, values, noNumbers = false }: Account): DefinitionUnderTest {
  const run = randomBytes(4).toString('hex');
  const made: MadeRequest[] = [];
  const tags = { ofCase: new Set<string>(), all: new Set<string>() };
  const created = new Set<string>();
  const { number, ...others } = profileOf(definition, { run, values, onTag: (tag) => noteTag(tags, tag) });
  const profile: HrisProfile = { ...others, ...(number === undefined || noNumbers ? {} : { number }) };
  const open = (url: string): OpenDefinition => openWatched(definition, { ...options, url }, made);
  const opened = [open(options.url), open(options.url)] as const;
  const [adapter, second] = opened.map(({ connection }) => noting(connection, created)) as [
    HrisConnection,
    HrisConnection,
  ];
  const hris = { profile, adapter, second };
  // Without a look into its tables, an employee counts once a search must show them.
  const found = async (wanted: ReadonlySet<string>): Promise<Set<string>> => {
    if (wanted.size > 0) await pause(Math.min(adapter.capabilities.readLagMs, MOST_LAG_MS));
    return idsOf(hris, definition, wanted);
  };
  const count = async (): Promise<number> => (await found(tags.ofCase)).size;
  const stop = async (): Promise<void> => void (await Promise.all([adapter.close(), second.close()]));
  const openAt = (url: string): HrisConnection => noting(open(url).connection, created);
  const underTest = {
    ...hris,
    count,
    stop,
    powers: powersOf({ definition, options, hris, open: openAt, of: opened[0] }),
  };
  const lacks = {
    ...LACKS,
    ...(noNumbers ? { numbers: 'this account assigns employee numbers later, or not at all' } : {}),
  };
  const missing = (Object.entries(lacks) as [Need, string][]).filter(([need]) => !offers(underTest, need));
  return {
    ...underTest,
    lacks: Object.fromEntries(missing),
    begin() {
      tags.ofCase.clear();
      made.length = 0;
    },
    requests: () => made,
    async clear() {
      let unknown: string | undefined;
      const others = await found(tags.all).catch((error: unknown) => void (unknown = String(error)));
      const outcome = await clearAway(opened[0], [...new Set([...created, ...(others ?? [])])]);
      return { ...outcome, ...(unknown !== undefined && { unknown }) };
    },
  };
}

function noteTag({ ofCase, all }: Record<'ofCase' | 'all', Set<string>>, tag: string): void {
  ofCase.add(tag);
  all.add(tag);
}

function openWatched(definition: HttpDefinition, options: CommonOptions, made: MadeRequest[]): OpenDefinition {
  return openDefinition(definition, options, {
    limits: noLimits,
    watch: ({ what, purpose, at }) => {
      const request: MadeRequest = { what: `${what} (${purpose})`, status: 'no answer', at };
      made.push(request);
      return {
        headers: { [PURPOSE]: purpose },
        answered: (status) => {
          request.status = status;
        },
      };
    },
  });
}

/** Remembers the ids of created employees, so that they can be removed. */
function noting(connection: HrisConnection, created: Set<string>): HrisConnection {
  const note = (result: CreateResult): CreateResult => {
    if (result.kind === 'created') created.add(result.ref.id);
    return result;
  };
  const { employees, pending } = connection;
  return {
    ...connection,
    employees: { ...employees, create: async (...args) => note(await employees.create(...args)) },
    ...(pending && { pending: { resolve: async (...args) => note(await pending.resolve(...args)) } }),
  };
}

/** Ids of all employees with the reference or address of these tags, found by the definition's own searches. */
async function idsOf(
  { adapter, profile }: Pick<HrisUnderTest, 'adapter' | 'profile'>,
  { search, everybody }: HttpDefinition,
  tags: ReadonlySet<string>,
): Promise<Set<string>> {
  const [reference, email] = [search.reference, search.email ?? everybody];
  const ids = new Set<string>();
  for (const tag of tags) {
    const found: Found[] = [];
    if (reference !== undefined)
      found.push(await adapter.employees.find({ by: 'reference', value: profile.reference?.(tag) ?? '' }, signal));
    if (email !== undefined && found.every(({ kind }) => kind === 'none'))
      found.push(await adapter.employees.find({ by: 'email', value: emailOf({ profile }, tag) }, signal));
    for (const one of found.flatMap(refsOf)) ids.add(one.id);
  }
  return ids;
}

function refsOf(found: Found): { id: string }[] {
  if (found.kind === 'none') return [];
  return found.kind === 'one' ? [found.ref] : found.refs;
}

async function clearAway({ connection, remove }: OpenDefinition, ids: readonly string[]) {
  const outcome = { removed: 0, ended: [] as string[], left: [] as string[] };
  const { terminate } = connection.employees;
  for (const id of ids) {
    try {
      if (remove !== undefined) {
        await remove(id, signal);
        outcome.removed += 1;
      } else if (terminate !== undefined) {
        await terminate(id, dayBefore(), write);
        outcome.ended.push(id);
      } else outcome.left.push(id);
    } catch {
      outcome.left.push(id);
    }
  }
  return outcome;
}

function dayBefore(): string {
  return new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
}

/** Values for fields by hirebridge's names; other required fields are filled by type. */
const KNOWN: Readonly<Record<string, (tag: string, run: string) => FieldValue>> = {
  name: (tag, run) => `Hirebridge Test ${run} ${tag}`,
  givenName: () => 'Hirebridge',
  familyName: (tag, run) => `Test ${run} ${tag}`,
  email: (tag, run) => `${tag}.${run}@example.org`,
  workEmail: (tag, run) => `work.${tag}.${run}@example.org`,
  userName: (tag, run) => `${tag}.${run}`,
  title: () => 'Cook',
  startDate: () => '2026-02-01',
  // By it, people of other runs who are still there are other people, even with a name without the mark.
  birthDate: (_tag, run) => new Date((Number.parseInt(run, 16) % 10_000) * 86_400_000).toISOString().slice(0, 10),
};

function profileOf(
  definition: HttpDefinition,
  { run, values, onTag }: { run: string; values: Account['values']; onTag: (tag: string) => void },
): HrisProfile {
  const fields = definition.fields.filter(({ write: isWritten }) => isWritten);
  const { search, everybody, record } = definition;
  const name = fields.find(({ key }) => key === 'familyName') ?? fields.find(({ key }) => key === 'name');
  const nameField = name ?? fields.find((field) => field.required && isFree(field));
  const edits = fields.filter((field) => field !== nameField && isFree(field) && isEditable(field));
  const own = edits.filter(({ below }) => below === undefined);
  const kept = record.reference === undefined ? [] : [{ key: 'record.reference', path: record.reference }];
  const edit = [kept, own].flatMap((all) => own.find((one) => besideIn(all, one)) ?? [])[0] ?? own[0] ?? edits[0];
  const beside = edit && besideIn(own, edit);
  if (nameField === undefined || edit === undefined)
    throw rejected(
      'HRIS_NOT_TESTABLE',
      `${definition.name} cannot be tested: no field ` +
        `${nameField === undefined ? 'holds a name' : 'of ten characters or more can be changed'}. Add such a field.`,
    );
  const missing = fields.find((field) => field.required && field !== nameField) ?? (name?.required ? name : undefined);
  const [isProven, exists] = [
    (by: keyof typeof search) => (search[by]?.trusted ?? false) !== false || everybody !== undefined,
    (by: keyof typeof search) => search[by] !== undefined || everybody !== undefined,
  ];
  const has = (key: string): boolean => definition.fields.some((field) => field.key === key);
  const isNamed = has('name') || (has('givenName') && has('familyName'));
  return {
    employee: (tag, changes = {}) => {
      onTag(tag);
      return { ...(beside && { [beside.key]: 'Beside' }), ...filled(fields, { tag, run, values }), ...changes };
    },
    reference: (tag) => `hirebridge-test:${run}:${tag}`,
    nameField: nameField.key,
    edit: { [edit.key]: 'Changed' },
    missing: missing === undefined ? {} : { [missing.key]: null },
    ...(record.number === undefined ? {} : { number: /./ }),
    refuses: [],
    ...(edit.empty === 'omit' && { empties: false }),
    ...(isProven('email') ? {} : { foldsCase: false }),
    ...(search.email?.trusted === 'ascii' && everybody === undefined ? { foldsEveryLetter: false } : {}),
    findsPersons: has('birthDate') && isNamed && exists('person'),
    findsEmails: (has('email') || has('workEmail')) && exists('email'),
    findsNames: isNamed && search.name !== undefined,
    findsNumbers: exists('number'),
    provesNothing: (['reference', 'number', 'email', 'person'] as const).filter((by) => !isProven(by)),
  };
}

/** Another field in the same object: a system that takes the object as a whole loses it when only one is written. */
function besideIn<Field extends Pick<FieldPlan, 'key' | 'path'>>(
  fields: readonly Field[],
  { key, path }: Pick<FieldPlan, 'key' | 'path'>,
): Field | undefined {
  const within = (of: FieldPlan['path']): string => JSON.stringify(of.slice(0, -1));
  return path.length < 2 ? undefined : fields.find((one) => one.key !== key && within(one.path) === within(path));
}

/** Whether the field takes any text of a word or two. */
function isFree({ type, options, values, maxLength = 100 }: FieldPlan): boolean {
  return type === 'text' && options === undefined && values === undefined && maxLength >= 10;
}

function isEditable({ key }: FieldPlan): boolean {
  return !['givenName', 'email', 'workEmail', 'userName', 'phone', 'country'].includes(key);
}

function filled(
  fields: readonly FieldPlan[],
  { tag, run, values }: { tag: string; run: string; values: Account['values'] },
): EmployeeFields {
  return Object.fromEntries(
    fields.flatMap((field): [string, FieldValue][] => {
      const given = values[field.key];
      if (given !== undefined) return [[field.key, typed(field, given.replaceAll('{tag}', `${tag}.${run}`))]];
      const known = isFree(field) || field.type === 'date' ? KNOWN[field.key]?.(tag, run) : undefined;
      if (known !== undefined) return [[field.key, known]];
      return field.required ? [[field.key, anyOf(field)]] : [];
    }),
  );
}

function typed({ type }: FieldPlan, text: string): FieldValue {
  if (type === 'boolean') return text === 'true';
  if (type === 'list') return text.split(',');
  return type === 'number' ? Number(text) : text;
}

function anyOf({ type, options, values }: FieldPlan): FieldValue {
  const [option] = options ?? Object.keys(values ?? {});
  if (type === 'list') return option === undefined ? [] : [option];
  if (option !== undefined) return option;
  return { text: 'Test', number: 1, date: '2026-02-01', boolean: false }[type];
}

/** The purpose of a request that writes a record below an employee. */
const BELOW = /^below\..*\.(create|update)$/;

interface Played {
  of: OpenDefinition;
  definition: HttpDefinition;
  options: CommonOptions;
  hris: Pick<HrisUnderTest, 'profile' | 'adapter' | 'second'>;
  open(url: string): HrisConnection;
}

function powersOf({ definition, options, hris, open, of: { below, everybody } }: Played): Partial<Powers> {
  const { origin, pathname } = new URL(options.url);
  const base = pathname.replace(/\/+$/, '');
  const openAt = async (url: string): Promise<HrisConnection> => open(`${url.replace(/\/$/, '')}${base}`);
  const spell = (status: number) => () => answered(origin, openAt, status);
  const { changing, updating, asking, fields } = definition;
  const moved = fields.find((field) => field.below !== undefined && field.write && isFree(field) && isEditable(field));
  return {
    ...httpPowers({
      url: origin,
      open: ({ url }) => openAt(url),
      isCreate: ({ purpose }) => purpose === 'create',
      isUpload: ({ purpose }) => purpose === 'files.upload',
      isAmendment: ({ purpose = '' }) => purpose === 'update' || BELOW.test(purpose),
      isBelow: ({ purpose = '' }) => BELOW.test(purpose),
    }),
    ...(moved && below && { below: { edit: { [moved.key]: 'Moved' }, count: below } }),
    ...(everybody && { everybody }),
    busy: spell(429),
    revoke: spell(401),
    ...(updating.isConditional && { staleUpdate: (id: string) => staleUpdate(origin, openAt, hris, id) }),
    ...(changing && { people: peopleOf(hris) }),
    ...(asking && { untilFinished: waitOnce(hris.adapter, asking) }),
  };
}

/** A proxy gives this answer to every request until `end`. */
async function answered(
  origin: string,
  openAt: (url: string) => Promise<HrisConnection>,
  status: number,
): Promise<Spell> {
  const proxy = await startHttpProxy(origin);
  const connection = await openAt(proxy.url);
  await connection.probe(signal);
  proxy.answerAll({ status });
  const close = async (): Promise<void> => {
    await connection.close();
    await proxy.close();
  };
  return { adapter: { ...connection, close }, end: async () => proxy.answerAll(undefined) };
}

/** Lets another edit arrive between our read and our write. */
async function staleUpdate(
  origin: string,
  openAt: (url: string) => Promise<HrisConnection>,
  { second, profile }: Played['hris'],
  id: string,
): Promise<void> {
  const proxy = await startHttpProxy(origin);
  const connection = await openAt(proxy.url);
  try {
    const edit = Object.fromEntries(Object.keys(profile.edit).map((key) => [key, 'Elsewhere']));
    const meanwhile = () => second.employees.update(id, edit, write);
    void proxy.strike({ kind: 'meanwhile', on: ({ purpose }) => purpose === 'update', meanwhile });
    await connection.employees.update(id, profile.edit, write);
  } finally {
    await connection.close();
    await proxy.close();
  }
}

function peopleOf({ adapter, profile }: Played['hris']): Powers['people'] {
  let groups = 0;
  let edits = 0;
  return {
    many: PEOPLE,
    async add(count) {
      groups += 1;
      const ids: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const tag = `group-${groups}-${at}`;
        const made = await adapter.employees.create(profile.employee(tag), profile.reference?.(tag) ?? tag, write);
        if (made.kind === 'created') ids.push(made.ref.id);
      }
      return ids;
    },
    async touch(ids) {
      edits += 1;
      const edit = Object.fromEntries(Object.keys(profile.edit).map((key) => [key, `Edit ${edits}`]));
      await Promise.all(ids.map((id) => adapter.employees.update(id, edit, write)));
    },
  };
}

/** Waits until a pending employee is finished. After one that nobody finished in time, no further one is waited for. */
function waitOnce(
  { pending, capabilities }: HrisConnection,
  { every, what }: NonNullable<HttpDefinition['asking']>,
): (ticket: string) => Promise<void> {
  let waitMs = FINISHED_MS + capabilities.readLagMs;
  return async (ticket) => {
    const end = performance.now() + waitMs;
    for (;;) {
      const result = await pending?.resolve(ticket, signal);
      if (result?.kind === 'created') return;
      if (performance.now() >= end) break;
      await pause(every);
    }
    waitMs = 0;
    throw new Error(
      'Nobody finished the pending employee within five minutes and readLag, or "pending.done" of the definition ' +
        `does not see it: compare its words with an answer to ${what}. No further pending employee is waited for.`,
    );
  };
}

const THEIRS = "a test does not stop a customer's server, or present its certificate";
const UNKNOWN = 'a definition does not say';

/** Reasons for what the definition, or our side, cannot offer. */
const LACKS: Partial<Record<Need, string>> = {
  restart: THEIRS,
  tls: THEIRS,
  ownClock: "a test does not set this machine's clock wrong",
  job: 'hirebridge cannot tell anybody there to finish or refuse a pending employee',
  uniqueReference: `whether two creates of one reference can both happen there: ${UNKNOWN}`,
  wide: 'no account gets 400 fields for a test',
  custom: `a field of the customer's own, and a value for it: ${UNKNOWN}`,
  webhooks: 'nobody there sends a webhook for a test',
  stored: `how a file is read back: ${UNKNOWN}`,
  files: 'the definition has no "files"',
  describe: 'the definition has no "describe"',
  changes: 'the definition has no "changes"',
  people: 'the definition has no "changes"',
  rehire: 'the definition has no "rehire"',
  terminate: 'the definition has no "terminate"',
  reference: 'the definition has no "record.reference"',
  numbers: 'the definition has no "record.number"',
  staleUpdate: 'the update names no {version}',
  names: 'the definition has no "find.name"',
  byNumber: 'the definition has no "find.number" and no "find.all"',
  emails: 'the definition has no field "email", or no search for it',
  persons: 'the definition has no birth date, or no search for it',
  required: 'no field is required',
  empties: 'the definition leaves an empty value out (empty: omit)',
  pending: 'the definition has no "pending"',
  finished: 'the definition has no "pending"',
};
