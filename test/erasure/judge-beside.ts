import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { contract } from '../../src/partner/contract/index.ts';
import { openDatabase } from '../../src/sql/open-database.ts';
import { STORE_PLACES } from '../../src/store/data-map.ts';
import type { ErasureReceipt } from '../../src/store/erasures.ts';
import type { Store } from '../../src/store/open-store.ts';
import { completeIds, findPersonRows } from '../../src/store/person-data.ts';
import { erasedMarks } from '../../src/store/person-marks.ts';
import { assertSigned, openSigner } from '../../src/store/signing-key.ts';
import type { Traffic } from '../harness/hire-traffic.ts';
import { gatherEvidence, isExactlyOnce } from '../harness/judge-hires.ts';
import { type Applicant, until, type World } from '../harness/world.ts';
import { END_COLUMN } from './ground.ts';

/** Somebody who is erased, and what of them is not ours: it stays. */
export interface Person extends Applicant {
  /** In the middle of what. */
  when: string;
  /** Their name and address. */
  words: string[];
  isEmployed?: boolean;
  isEnrolled?: boolean;
}

/** What was played, as it is judged. */
export interface Judged {
  world: World;
  /** Where the store is; another one after the restore. */
  url: string;
  store: Store;
  traffic: Traffic;
  erased: Person[];
  /** By candidate, as the command printed them or the store had them before it was lost. */
  receipts: Map<number, ErasureReceipt>;
}

/** Whoever was erased is nowhere, with one receipt; everybody else was hired once and stands everywhere. */
export async function judgeErased(play: Judged): Promise<string[]> {
  const { world, erased, url } = play;
  const faults = await worldFaults(play);
  await until('a reconcile lists nobody who was erased', async () => !(await isSeen(play)));
  if ((await tracesOf(play, witnessOf(play))).length < SEEN) faults.push('the search does not find who is there');
  for (const person of erased)
    for (const fault of [...(await tracesOf(play, person)), ...(await receiptFaults(play, person))])
      faults.push(`${person.when}: ${fault}`);
  const audited = await world.cli(['audit', 'verify'], { HIREBRIDGE_STORE_URL: url });
  return audited.code === 0 ? faults : [...faults, `audit verify: ${audited.stderr}`];
}

/** Places that hold something of whoever was hired, at the least. */
const SEEN = 8;

/** Name and address that a candidate is given, which stand nowhere else. */
export function plantedIn(candidateId: number): { lastName: string; email: string } {
  return { lastName: `Qz${candidateId}name`, email: `qz${candidateId}@erased.example` };
}

/** Somebody else, whom each search must find. */
function witnessOf({ traffic }: Judged): Person {
  const [one] = traffic.hired;
  if (one === undefined) throw new Error('nobody else was hired');
  return { ...one, when: 'hired', words: Object.values(plantedIn(one.candidateId)) };
}

/** By the keyed hash of their candidate id. */
export async function receiptsOf({ store, world }: Judged, { candidateId }: Person): Promise<ErasureReceipt[]> {
  const marks = await erasedMarks(store, world.tenant, [{ kind: 'candidate', id: String(candidateId) }]);
  const rows = await store.kysely.selectFrom('erasures').select('receipt').execute();
  const receipts = rows.flatMap(({ receipt }) => (receipt === null ? [] : [JSON.parse(receipt) as ErasureReceipt]));
  return receipts.filter(({ person }) => marks.some((mark) => person.includes(mark)));
}

/** An event that the partner sends later is kept by its ids, and a reconcile lists whom it sees until it has ended. */
const LATER = new Set(['inbox', 'seen_people']);

async function isSeen({ store, erased }: Judged): Promise<boolean> {
  const ids = erased.map(({ candidateId }) => String(candidateId));
  const seen = store.kysely.selectFrom('seen_people').select('candidate_id').where('candidate_id', 'in', ids);
  return (await seen.executeTakeFirst()) !== undefined;
}

/** By the product's own search, and by words in each column of the data map and of the landing tables. */
async function tracesOf({ world, store }: Judged, person: Person): Promise<string[]> {
  const { candidateId, jobCandidateId, words } = person;
  const ids = { candidates: [`${candidateId}`], jobCandidates: [`${jobCandidateId}`], enrolments: [], employees: [] };
  const subject = await completeIds(store, world.tenant, ids);
  const faults = (await findPersonRows(store, subject)).filter(({ place }) => !LATER.has(place));
  const found = faults.map(({ place, count }) => `${count} rows in ${place}`);
  const ours = `:${jobCandidateId}:`;
  const enrolled = (await world.effects('enrolment')).filter(({ detail }) =>
    `${String(detail['externalRef'])}:`.includes(ours),
  );
  const known = [candidateId, jobCandidateId, ...enrolled.map(({ subject }) => subject)];
  const theirs = new RegExp(`\\b(${known.join('|')})\\b|${words.join('|')}`);
  const hr = openDatabase<never>(world.hrisUrl, { poolSize: 1 });
  const tables = Object.keys(STORE_PLACES).filter((table) => !LATER.has(table) && !table.startsWith('kysely'));
  const landed = ['candidates', 'applications', 'onboarding'].map((stream) => `partner_${stream}`);
  for (const [kysely, some] of [
    [store.kysely as unknown as Kysely<never>, tables],
    [hr.kysely, landed],
  ] as const)
    for (const table of some) {
      const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(kysely);
      const row = rows.map((one) => JSON.stringify(one)).find((text) => theirs.test(text));
      if (row !== undefined) found.push(`in ${table}: ${row.slice(0, 300)}`);
    }
  await hr.close();
  return found;
}

async function receiptFaults(play: Judged, person: Person): Promise<string[]> {
  const { receipts, store, world } = play;
  const faults: string[] = [];
  const { keyId } = openSigner(world.dataDir);
  const kept = await receiptsOf(play, person);
  if (kept.length !== 1) faults.push(`${kept.length} receipts`);
  const first = receipts.get(person.candidateId);
  for (const one of first === undefined ? kept : [...kept, first]) {
    assertSigned(one, keyId);
    const isInDoubt = one.left.some((text) => text.includes('under way'));
    const isFirst = one.receipt === (first ?? one).receipt;
    if (isFirst && isInDoubt !== /before enrolment|being made/.test(person.when))
      faults.push(`left: ${one.left.join(' ')}`);
  }
  const [one] = kept;
  // A store in Postgres knows nothing of what was done after its backup, so that it was done once more.
  const isAgain = store.kind === 'postgres' && one?.reason.startsWith('a backup was put back') === true;
  if (first !== undefined && one?.receipt !== first.receipt && !isAgain) faults.push(`another receipt: ${one?.reason}`);
  return faults;
}

/** What became of everybody else, and what stays of whoever was erased: by the ledger and the HR system. */
async function worldFaults(play: Judged): Promise<string[]> {
  const { world, traffic, erased, store } = play;
  const evidence = await gatherEvidence(world);
  const others = evidence.of(traffic.hired);
  const faults = isExactlyOnce(others) ? [] : [`others: ${JSON.stringify(others)}`];
  for (const person of erased) {
    const { employees, credits } = evidence.of([person]);
    const [made, paid] = [person.isEmployed === true ? 1 : 0, person.isEnrolled === true ? 1 : 0];
    if (employees !== made || credits !== paid)
      faults.push(`${person.when}: ${employees} employees and ${credits} credits, not ${made} and ${paid}`);
  }
  const all = traffic.hired.length + erased.filter(({ isEmployed }) => isEmployed === true).length;
  if (evidence.all.employees !== all) faults.push(`${evidence.all.employees} employees, not ${all}`);
  const open = await store.kysely.selectFrom('holds').select('code').where('closed_at', 'is', null).execute();
  if (open.length > 0) faults.push(`questions: ${open.map(({ code }) => code).join(' ')}`);
  const { items } = await world.partner.readAll(contract.candidates.list);
  const hr = openDatabase<never>(world.hrisUrl, { poolSize: 1 });
  const landed = await sql<{ partner_id: string; email: string; gone_at: number | null }>`
    select partner_id, email, gone_at from partner_candidates`.execute(hr.kysely);
  const ended = await sql<{ reference: string }>`select external_ref as reference from employees
    where ${sql.ref(END_COLUMN)} is not null`.execute(hr.kysely);
  const desks = await sql<{ reference: string; desk: string }>`select external_ref as reference, desk from employees
    where desk is not null`.execute(hr.kysely);
  await hr.close();
  const gone = new Set(erased.map(({ candidateId }) => String(candidateId)));
  const staying = items.map((one) => [String(one.id), String(one.email)]).filter(([id = '']) => !gone.has(id));
  const there = landed.rows.map((row) => [row.partner_id, row.gone_at === null ? row.email : 'gone']);
  if (JSON.stringify(there.toSorted()) !== JSON.stringify(staying.toSorted()))
    faults.push(`${there.length} landed candidates, not ${staying.length}, or others`);
  const [terminated] = erased;
  const leavers = ended.rows.map(({ reference }) => reference.split(':')[1]);
  if (leavers.join() !== String(terminated?.candidateId)) faults.push(`ended: ${leavers.join()}`);
  for (const { reference, desk } of desks.rows) {
    const entityId = reference.split(':')[1] ?? '';
    if (gone.has(entityId)) continue;
    const values = await world.partner.readAll(contract.customFieldValues.list, {
      query: { entityType: 'candidate', entityId },
    });
    if (!JSON.stringify(values.items).includes(`"${desk}"`)) faults.push(`desk ${desk} was not pushed`);
  }
  const invites = Object.entries((await world.control.counts({ kind: 'request' })).request ?? {});
  if (desks.rows.length === 0 || !invites.some(([name]) => name.startsWith('assessments.invite')))
    faults.push('nothing was pushed');
  return faults;
}

/** Files of the store, free pages and the write-ahead log; the one that was replaced is kept, as said. */
export async function bytesLeft(play: Judged): Promise<string[]> {
  const { url, erased, store } = play;
  await store.close();
  const folder = dirname(url.slice('sqlite:'.length));
  const names = (await readdir(folder)).filter((name) => /^[^.]+\.db(-wal|-shm)?$/.test(name));
  const files = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const));
  const holding = ({ words }: Person) =>
    files.filter(([, bytes]) => words.some((word) => bytes.includes(word))).map(([name]) => name);
  const faults = holding(witnessOf(play)).length === 0 ? ['no byte of who is there'] : [];
  for (const one of erased) for (const name of holding(one)) faults.push(`${one.when}: bytes in ${name}`);
  return faults;
}
