import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Kysely, sql } from 'kysely';
import { dayOf } from '../../src/day-of.ts';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import { ERASURES_FILE } from '../../src/store/erase-restored.ts';
import { askErasure, askTenantErasure, type ErasureReceipt } from '../../src/store/erasures.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { completeIds, findPersonRows } from '../../src/store/person-data.ts';
import { assertSigned, openSigner } from '../../src/store/signing-key.ts';
import { countTenantRows } from '../../src/store/tenant-rows.ts';
import type { SeededPerson } from '../store/seeded-person.ts';
import { ACME } from '../tenants/acme.ts';
import { copyModel, listCrowd, type Reach } from './crowd.ts';
import type { Order } from './erase-process.ts';
import { END_COLUMN, type Ground, openGround } from './ground.ts';
import { compare, eraseAmong, randomOf, randomPeople, rowsOf, tablesCompared } from './others.ts';

/** Where a store and an HR system are to be; both are empty. */
export interface Urls {
  store: string;
  hris: string;
}

export interface Walk {
  /** Points that one erasure passes, and how many processes died at one. */
  points: number;
  killed: number;
  /** Rows of others that were compared byte by byte. */
  rows: number;
  faults: string[];
}

/** Which points are walked. */
type Chosen = (point: string, nth: number) => boolean;

const DAY_MS = 86_400_000;
/** Whoever is asked to be erased was so days ago: the HR system shows by now that their employment has ended. */
const ASKED_DAYS = 3;

/** A process that carries out erasures until it dies. */
interface Eraser {
  erase(order: Order): Promise<ErasureReceipt | 'killed'>;
  end(): Promise<void>;
}

function startEraser({ store, hris }: Urls, dataDir: string): Eraser {
  const script = join(import.meta.dirname, 'erase-process.ts');
  // Most of its life goes into being started.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'hirebridge-compile-cache') };
  const child: ChildProcess = spawn(process.execPath, [script, store, hris, dataDir], { env });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null) throw new Error('it has no input or output');
  // What is said to a dead process is lost with it.
  stdin.on('error', () => undefined);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let said = '';
  stderr?.on('data', (some: Buffer) => (said += some.toString()));
  const ended = new Promise<string | null>((resolve) => child.on('close', (_code, signal) => resolve(signal)));
  return {
    async erase(order) {
      stdin.write(`${JSON.stringify(order)}\n`);
      const { done, value } = await lines.next();
      if (done !== true) return JSON.parse(value) as ErasureReceipt;
      if ((await ended) === 'SIGKILL') return 'killed';
      throw new Error(`an erasure broke: ${said}`);
    },
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Processes that are killed one after the other; the next one is being started while one works. */
function eraserChain(urls: Urls, store: Store, dataDir: string) {
  let [now, next] = [startEraser(urls, dataDir), startEraser(urls, dataDir)];
  return {
    /** The points that it passes, in order, but those of the lease, which come by the clock. */
    async record(erasure: string): Promise<{ receipt: ErasureReceipt; points: string[] }> {
      const listFile = join(dataDir, 'points');
      const receipt = await now.erase({ erasure, listFile });
      if (receipt === 'killed') throw new Error('nobody killed it');
      // It has counted what it passed.
      await now.end();
      [now, next] = [next, startEraser(urls, dataDir)];
      const times = new Map<string, number>();
      const passed = (await readFile(listFile, 'utf8')).trim().split('\n');
      const points = passed.flatMap((point) => {
        times.set(point, (times.get(point) ?? 0) + 1);
        return point.startsWith('erase/') && !point.includes('.leases') ? [`${point}#${times.get(point)}`] : [];
      });
      return { receipt, points };
    },
    /** Killed at this point, and carried out to its end by the next process, which is told twice. */
    async eraseKilled(erasure: string, killAt: string): Promise<{ receipt: ErasureReceipt; faults: string[] }> {
      const first = await now.erase({ erasure, killAt });
      const faults = first === 'killed' ? [] : ['it did not come there'];
      if (first !== 'killed') await now.end();
      [now, next] = [next, startEraser(urls, dataDir)];
      // That of the killed process would be waited for.
      await store.kysely.deleteFrom('leases').execute();
      const receipt = await now.erase({ erasure });
      const again = await now.erase({ erasure });
      if (receipt === 'killed' || again === 'killed') throw new Error('nobody killed it');
      if (JSON.stringify(again) !== JSON.stringify(receipt)) faults.push('a second receipt');
      return { receipt, faults };
    },
    end: () => Promise.all([now.end(), next.end()]),
  };
}

type Chain = ReturnType<typeof eraserChain>;

async function atGround<T>(urls: Urls, use: (ground: Ground, chain: Chain) => Promise<T>): Promise<T> {
  const store = await openStore(urls.store, { relaxed: true });
  const ground = await openGround(store, urls.hris);
  const chain = eraserChain(urls, store, ground.dataDir);
  try {
    return await use(ground, chain);
  } finally {
    await chain.end();
    await ground.close();
    await store.close();
  }
}

/** What a receipt says of the work itself. */
function saysOf({ erased, left, lastLook, person, employee }: ErasureReceipt): string {
  const places = Object.entries(erased).toSorted(([one], [other]) => one.localeCompare(other));
  return JSON.stringify({ places, left, lastLook, person: person.length, employee });
}

/** The receipt is signed, says what one says that nothing interrupted, and is the only one. */
async function receiptFaults({ store, dataDir }: Ground, receipt: ErasureReceipt, whole: ErasureReceipt) {
  const faults: string[] = [];
  if (saysOf(receipt) !== saysOf(whole)) faults.push(`its receipt: ${saysOf(receipt)}, not ${saysOf(whole)}`);
  assertSigned(receipt, openSigner(dataDir).keyId);
  const acts = store.kysely.selectFrom('audit').select('details').where('act', '=', 'erased');
  const ends = (await acts.execute()).filter(({ details }) => details === receipt.receipt).length;
  if (ends !== 1) faults.push(`it ended ${ends} times by the audit trail`);
  const kept = (await readFile(join(dataDir, ERASURES_FILE), 'utf8')).split(receipt.receipt).length - 1;
  if (kept !== 1) faults.push(`it is ${kept} times in ${ERASURES_FILE}`);
  return faults;
}

/**
 * One person is erased to see which points are passed; then one for each point, in the same store: the process dies
 * there, and the next one goes on. Their employments end, each once, and everybody else stays as they were.
 */
export async function walkPersonKills(urls: Urls, chosen: Chosen = () => true): Promise<Walk> {
  return atGround(urls, async (ground, chain) => {
    const { hr } = ground;
    await watchEndings(hr);
    const { answers } = await eraseAmongEmployed(ground, peopleOf(3), 1, chain.record);
    const [one] = answers;
    if (one === undefined) throw new Error('nobody was erased');
    const walked = one.points.flatMap((point, nth) => (chosen(point, nth) ? [point] : []));
    const people = peopleOf(walked.length * 3).map((person) => ({ ...person, tenant: `more-${person.tenant}` }));
    const faults: string[] = [];
    let nth = 0;
    const killed = await eraseAmongEmployed(ground, people, walked.length, async (erasure, person) => {
      const point = walked[nth] ?? '';
      nth += 1;
      const { receipt, faults: some } = await chain.eraseKilled(erasure, point);
      some.push(...(await receiptFaults(ground, receipt, one.receipt)));
      const subject = await subjectOf(ground.store, person);
      for (const { place, count } of await findPersonRows(ground.store, subject)) some.push(`${count} in ${place}`);
      faults.push(...some.map((fault) => `killed at ${point}: ${fault}`));
    });
    return { points: one.points.length, killed: nth, rows: killed.rows, faults: [...faults, ...killed.faults] };
  });
}

/** Of random tenants, with few numbers in use; but each has an employee number of their own, as in one HR system. */
function peopleOf(count: number): SeededPerson[] {
  return randomPeople(count, randomOf(count)).map((person, nth) => ({
    ...person,
    employee: String(1_000 * (count + 1_000) + nth),
  }));
}

function subjectOf(store: Store, { tenant, candidate }: SeededPerson) {
  return completeIds(store, tenant, { candidates: [candidate], jobCandidates: [], enrolments: [], employees: [] });
}

/** As `eraseAmong`, of the first so many, all of whom are employed; by the ledger of the HR system each end is once. */
async function eraseAmongEmployed<T>(
  ground: Ground,
  people: readonly SeededPerson[],
  count: number,
  carryOut: (erasure: string, person: SeededPerson) => Promise<T>,
) {
  const { store, hr } = ground;
  const answers: T[] = [];
  const erased = people.slice(0, count);
  await employ(hr, people);
  const erase = async (person: SeededPerson): Promise<void> => {
    const asking = {
      subject: await subjectOf(store, person),
      by: 'ann',
      reason: 'asked',
      employee: 'terminate',
    } as const;
    const { erasure_id: id } = await askErasure(store, asking);
    const asked_at = Date.now() - ASKED_DAYS * DAY_MS;
    await store.kysely.updateTable('erasures').set({ asked_at }).where('erasure_id', '=', id).execute();
    answers.push(await carryOut(id, person));
  };
  const { rows, faults } = await eraseAmong({ ...ground, erase }, people, erased);
  const last = dayOf(Date.now() - ASKED_DAYS * DAY_MS);
  const ended = await sql<{ id: number | string; last_day: string }>`select id, last_day from endings`.execute(
    hr.kysely,
  );
  const [wanted, there] = [erased.map(({ employee }) => employee).toSorted(), ended.rows.map(({ id }) => String(id))];
  const ours = there.filter((id) => people.some(({ employee }) => employee === id)).toSorted();
  if (JSON.stringify(ours) !== JSON.stringify(wanted))
    faults.push(`ended: ${ours.join(' ')}; asked: ${wanted.join(' ')}`);
  faults.push(...ended.rows.flatMap(({ id, last_day: day }) => (day === last ? [] : [`${id} ended on ${day}`])));
  return { answers, rows, faults };
}

async function employ({ kysely, kind }: Reach, people: readonly SeededPerson[]): Promise<void> {
  const own = kind === 'postgres' ? sql`overriding system value` : sql``;
  for (const { employee } of people)
    await sql`insert into employees (id, given_name, family_name, email, start_date) ${own}
      values (${Number(employee)}, '', '', '', '2026-01-01')`.execute(kysely);
}

/** Each time an employee's row is written is taken down. */
async function watchEndings({ kysely, kind }: Reach): Promise<void> {
  await sql`create table endings (id bigint, last_day text)`.execute(kysely);
  const note = sql`insert into endings values (new.id, cast(new.${sql.ref(END_COLUMN)} as text));`;
  if (kind === 'sqlite') {
    await sql`create trigger ending after update on employees begin ${note} end`.execute(kysely);
    return;
  }
  await sql`create function note_ending() returns trigger language plpgsql as
    $$ begin ${note} return new; end $$`.execute(kysely);
  await sql`create trigger ending after update on employees for each row execute function note_ending()`.execute(
    kysely,
  );
}

/** Names that are part of no other one. */
function tenantsNamed(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, nth) => `${name}-${String(nth).padStart(4, '0')}-x`);
}

/** All of them have the same numbers. */
const IDS = { candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const GONE = /gone-\d{4}-x/;
/** Where the name of a tenant that was erased stays. */
const NAMED_STILL = /^(tenants|tenant_versions) /;
const OTHERS = 12;

/** The same of whole tenants: one for each point, beside others whose people have the same numbers. */
export async function walkTenantKills(urls: Urls, chosen: Chosen = () => true): Promise<Walk> {
  return atGround(urls, async (ground, chain) => {
    const { store } = ground;
    const staying = tenantsNamed('stays', OTHERS);
    const [first = '', ...rest] = tenantsNamed('gone', MOST_TENANT_POINTS);
    await settle(ground, urls, [first, ...rest, ...staying]);
    const { receipt: whole, points } = await chain.record(await askForTenant(store, first));
    const walked = points.flatMap((point, nth) => (chosen(point, nth) ? [point] : []));
    if (walked.length > rest.length) throw new Error(`${points.length} points, and ${rest.length} tenants`);
    const before = await lookAt(ground);
    const faults: string[] = [];
    for (const [nth, point] of walked.entries()) {
      const tenant = rest[nth] ?? '';
      const { receipt, faults: some } = await chain.eraseKilled(await askForTenant(store, tenant), point);
      some.push(...(await receiptFaults(ground, receipt, whole)));
      for (const { place, count } of await countTenantRows(store, tenant)) some.push(`${count} in ${place}`);
      faults.push(...some.map((fault) => `killed at ${point}: ${fault}`));
    }
    const gone = new Set([first, ...rest.slice(0, walked.length)]);
    const isGone = (row: string) => gone.has(GONE.exec(row)?.[0] ?? '');
    const left = before.filter((row) => !isGone(row));
    faults.push(
      ...compare(
        left,
        (await lookAt(ground)).filter((row) => !(NAMED_STILL.test(row) && isGone(row))),
      ),
    );
    return { points: points.length, killed: walked.length, rows: left.length, faults };
  });
}

/** At least as many as an erasure of a tenant has points. */
const MOST_TENANT_POINTS = 240;

async function settle(ground: Ground, { hris }: Urls, tenants: readonly string[]): Promise<void> {
  const receives = { webhooks: 'off' as const, webhookKeys: [] };
  const definitions = tenants.map((tenantId) => {
    const file = `/tenants/${tenantId}.yaml`;
    const text = ACME.replace('tenant: acme', `tenant: ${tenantId}`).replace('sqlite:./hr.sqlite', hris);
    return { tenantId, file, files: { [file]: text }, receives, over: null, changes: [] };
  });
  await applyDefinitions(ground.store, definitions, 'ann');
  const people = tenants.map((tenant) => ({ tenant, ...IDS }));
  const our = { kysely: ground.store.kysely as unknown as Kysely<never>, kind: ground.store.kind };
  for (const [reach, rows] of [
    [our, ground.model.store],
    [ground.hr, ground.model.landing],
  ] as const) {
    await listCrowd(reach, people);
    await copyModel(reach, rows);
  }
}

/** Removed so long ago that nothing of it is under way. */
async function askForTenant(store: Store, tenantId: string): Promise<string> {
  const asking = { tenantId, by: 'ann', reason: 'end of contract', landing: 'delete' } as const;
  await removeTenant(store, asking);
  await store.kysely.updateTable('tenants').set({ ended_at: 1 }).where('tenant_id', '=', tenantId).execute();
  const { erasure_id: erasure } = await askTenantErasure(store, asking);
  return erasure;
}

async function lookAt({ store, hr, model }: Ground): Promise<string[]> {
  const our = store.kysely as unknown as Kysely<never>;
  return [...(await rowsOf(our, tablesCompared())), ...(await rowsOf(hr.kysely, [...model.landing.keys()]))];
}
