import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { access, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Logger } from '../log.ts';
import { systemUser } from '../places.ts';
import { has, inTransaction, type Store, type StoreTables } from './open-store.ts';
import { recordDigest } from './person-marks.ts';
import type { AuditRow } from './schema.ts';
import { assertSigned, openSigner, type Signed, signed } from './signing-key.ts';

// The audit trail: what people did and looked at. The rows of a tenant form a chain: each row holds the hash of the one
// before, so that nobody can change, drop or move a row unnoticed. Signed heads of the chains are noted outside the
// store, which reveals a chain that was cut off at its end. Acts on all tenants form a chain of their own.

export interface AuditEntry {
  /** The name that was given for the act. The user who really acted is recorded as well; see `actorOf`. */
  by: string;
  /** Absent for the whole fleet. */
  tenantId?: string | undefined;
  act: AuditRow['act'];
  details?: string;
  /** The record's keyed hash, from `recordDigest`. */
  subject?: string | undefined;
}

/** The chain of acts on all tenants. */
const FLEET = '';

const actors = new AsyncLocalStorage<string>();

/** Attributes acts and looks inside `does` to this actor: a console's request acts for its user, not the process. */
export function actingAs<T>(actor: string, does: () => T): T {
  return actors.run(actor, does);
}

/** The current actor: the signed-in person, a part of hirebridge, or else this system's user. */
function actorOf(): string {
  return actors.getStore() ?? `user:${process.getuid?.() ?? 0}/${systemUser()}`;
}

/** This process wrote rows whose head is not yet noted outside the store. */
let isUnnoted = false;

/**
 * Appends an act to its chain, in the transaction that performs the act. Acts of one tenant wait for each other's
 * transactions; acts of different tenants do not.
 */
export async function audit(store: StoreTables, entry: AuditEntry): Promise<void> {
  if (!store.kysely.isTransaction)
    return store.kysely.transaction().execute((kysely) => audit({ ...store, kysely }, entry));
  const { by, tenantId, act, details, subject } = entry;
  const head = await takeHead(store, tenantId ?? FLEET);
  const link = linkAfter(head, {
    at: head.now,
    by,
    tenant_id: tenantId ?? null,
    act,
    details: details ?? null,
    actor: actorOf(),
    subject: subject ?? null,
    sealed: 'at-once',
  });
  await store.kysely.insertInto('audit').values(link).execute();
  await keepHead(store, link);
  isUnnoted = true;
}

interface Look {
  by: string;
  tenantId: string;
  what: string;
  /** The one record that somebody looked at: `job-candidate`, `candidate`, `delivery`, ... and its id. */
  of?: { kind: string; id: string } | undefined;
  /** The look showed values that are otherwise masked. */
  isRevealed?: boolean;
}

/** Records a look at people's values before they are shown: one row for each page, the record as a keyed hash. */
export async function noteLook(store: Store, { by, tenantId, what, of, isRevealed = false }: Look): Promise<void> {
  const subject = of && (await recordDigest(store, tenantId, of));
  await audit(store, { by, tenantId, act: isRevealed ? 'revealed' : 'looked', details: what, subject });
}

interface Head {
  chain: string;
  seq: number;
  hash: string;
}

/** Locks a chain until the transaction ends. Gives its next number, and the hash of its last row. */
async function takeHead({ kysely, now }: StoreTables, chain: string): Promise<Head & { now: number }> {
  const head = await kysely
    .insertInto('audit_heads')
    .values({ chain, seq: 1, hash: '' })
    .onConflict((c) => c.column('chain').doUpdateSet({ seq: sql<number>`audit_heads.seq + 1` }))
    .returning(['seq', 'hash', now.as('now')])
    .executeTakeFirstOrThrow();
  return { chain, seq: head.seq, hash: head.hash, now: head.now };
}

async function keepHead({ kysely }: StoreTables, { chain, hash }: { chain: string; hash: string }): Promise<void> {
  await kysely.updateTable('audit_heads').set({ hash }).where('chain', '=', chain).execute();
}

type Told = Pick<AuditRow, 'at' | 'by' | 'tenant_id' | 'act' | 'details' | 'actor' | 'subject' | 'sealed'>;

function linkAfter({ chain, seq, hash: prev }: Head, told: Told) {
  const { details } = told;
  const salt = details === null ? null : randomBytes(16).toString('base64url');
  const link = {
    ...told,
    chain,
    seq,
    prev,
    salt,
    details_hash: details === null ? null : hashOf(`${salt}\n${details}`),
  };
  return { ...link, hash: hashOfLink(link) };
}

type Link = Pick<
  AuditRow,
  'seq' | 'at' | 'by' | 'tenant_id' | 'act' | 'actor' | 'subject' | 'details_hash' | 'sealed' | 'prev'
>;

/** Hash of a row. It covers the details and their salt through `details_hash`, so both can be erased later. */
function hashOfLink({ seq, at, by, tenant_id, act, actor, subject, details_hash, sealed, prev }: Link): string {
  const told = ['hirebridge-audit-1', tenant_id ?? FLEET, Number(seq), Number(at), by, actor, act, subject];
  return hashOf(JSON.stringify([...told, details_hash, sealed, prev]));
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Records which rows of the trail lost their details because an erasure took their salt. It includes the hash of the
 * text that is left, so that nobody can pass off another change as an erasure. It locks the chain last, as every act
 * does.
 */
export async function noteRedacted(store: StoreTables, tenantId: string): Promise<void> {
  const rows = store.kysely.selectFrom('audit').select(['seq', 'details']).where('chain', '=', tenantId);
  const blank = await rows.where('details_hash', 'is not', null).where('salt', 'is', null).execute();
  const told = (await rows.where('act', '=', 'redacted').orderBy('seq').execute()).flatMap(redactedIn);
  const last = new Map(told.map(({ row, hash }) => [row, hash]));
  const left = blank.map(({ seq, details }) => ({ row: Number(seq), hash: hashOf(details ?? '') }));
  const news = left.filter(({ row, hash }) => last.get(row) !== hash).map(({ row, hash }) => `row ${row}: ${hash}`);
  if (news.length > 0) await audit(store, { by: 'hirebridge', tenantId, act: 'redacted', details: news.join('\n') });
}

/** The rows that a `redacted` row lists, with the hash of the text left in each. */
function redactedIn({ details }: Pick<AuditRow, 'details'>): { row: number; hash: string }[] {
  const lines = (details ?? '').matchAll(/^row (\d+): ([0-9a-f]{64})$/gm);
  return [...lines].map(([, row, hash = '']) => ({ row: Number(row), hash }));
}

/** Rows sealed in one transaction; acts of the tenant wait for that long. */
const BATCH = 100;

/** Seals rows written by a version without chains: they are appended unchanged behind the sealed rows. */
async function sealFound(store: StoreTables, chain: string): Promise<void> {
  const row = sql.ref(store.kind === 'sqlite' ? 'rowid' : 'ctid');
  const isOurs = chain === FLEET ? sql`tenant_id is null` : sql`tenant_id = ${chain}`;
  for (let sealed = BATCH; sealed === BATCH; )
    sealed = await inTransaction(store, async (trx) => {
      const { kysely } = trx;
      const lock = store.kind === 'sqlite' ? sql`` : sql`for update`;
      const query = sql<Told & { row: unknown }>`select ${row} as "row", at, "by", tenant_id, act, details from audit
        where seq is null and ${isOurs} order by at limit ${sql.lit(BATCH)} ${lock}`;
      // Locks the chain before reading the rows, so that no other process seals them at the same time.
      let { seq, hash } = await takeHead(trx, chain);
      const { rows } = await query.execute(kysely);
      for (const { row: place, ...told } of rows) {
        const link = linkAfter({ chain, seq, hash }, { ...told, actor: null, subject: null, sealed: 'later' });
        hash = link.hash;
        const { prev, salt, details_hash, sealed } = link;
        const seal = { chain, seq, prev, salt, details_hash, sealed, hash };
        await kysely.updateTable('audit').set(seal).where(sql<boolean>`${row} = ${place}`).execute();
        seq += 1;
      }
      await kysely
        .updateTable('audit_heads')
        .set({ seq: seq - 1, hash })
        .where('chain', '=', chain)
        .execute();
      return rows.length;
    });
}

/** The file of noted heads, in the data directory beside the key that signs them. */
export const HEADS_FILE = 'audit.heads.jsonl';

interface NotedHead extends Head, Signed {
  installation: string;
  at: string;
  /** All heads of a store that was just restored: heads noted before belong to the store it replaced. */
  restored?: Record<string, readonly [seq: number, hash: string]>;
}

/**
 * Seals rows that are still unsealed, and notes the heads of chains that grew: as a signed line in the data directory
 * and in the log, which other systems may collect.
 */
export async function keepAudit(store: Store, dataDir: string, log?: Logger): Promise<void> {
  const grown = await sql<{ chain: string }>`select chain from audit_heads where noted < seq
    union select coalesce(tenant_id, '') from audit where seq is null`.execute(store.kysely);
  if (grown.rows.length === 0) return;
  const unsealed = await sql<{ chain: string }>`select distinct coalesce(tenant_id, '') as chain from audit
    where seq is null`.execute(store.kysely);
  for (const { chain } of unsealed.rows) await sealFound(store, chain);
  const heads = store.kysely.selectFrom('audit_heads').select(['chain', 'seq', 'hash']);
  const named = (await heads.where('noted', '<', sql.ref<number>('seq')).execute()).map(asHead);
  await noteOutside(store, dataDir, named, log);
  for (const { chain, seq } of named)
    await store.kysely.updateTable('audit_heads').set({ noted: seq }).where('chain', '=', chain).execute();
}

/** The same at the end of a command, if a worker made the files. The worker does what the command may not do. */
export async function keepOwnAudit(store: Store, dataDir: string): Promise<void> {
  if (!isUnnoted) return;
  isUnnoted = false;
  try {
    await access(join(dataDir, HEADS_FILE));
    await keepAudit(store, dataDir);
  } catch {
    // The worker's next round notes the heads.
  }
}

/** Notes that this store was restored, so that heads noted for the store before no longer count. */
export async function noteHeadsRestored(store: Store, dataDir: string): Promise<void> {
  const heads = (await store.kysely.selectFrom('audit_heads').select(['chain', 'seq', 'hash']).execute()).map(asHead);
  const restored = Object.fromEntries(heads.map(({ chain, seq, hash }) => [chain, [seq, hash] as const]));
  await noteOutside(store, dataDir, [{ chain: FLEET, seq: 0, hash: '', restored }]);
}

function asHead({ chain, seq, hash }: Head): Head {
  return { chain, seq: Number(seq), hash };
}

async function noteOutside(
  { installationId: installation }: Store,
  dataDir: string,
  heads: readonly (Head & Pick<NotedHead, 'restored'>)[],
  log?: Logger,
): Promise<void> {
  const signer = openSigner(dataDir);
  const at = new Date().toISOString();
  const lines = heads.map((head) => signed(signer, { installation, at, ...head }));
  for (const line of lines) log?.info({ auditHead: line }, 'audit trail');
  await appendLines(join(dataDir, HEADS_FILE), lines);
}

/** A process that was killed, or a full disk, may have left half a line: a new one is started then. */
export async function appendLines(file: string, lines: readonly object[]): Promise<void> {
  const out = await open(file, 'a+', 0o600);
  try {
    const { size } = await out.stat();
    const { buffer: last } = await out.read(Buffer.alloc(1), 0, 1, Math.max(size - 1, 0));
    const start = size === 0 || last.toString() === '\n' ? '' : '\n';
    await out.appendFile(`${start}${lines.map((line) => `${JSON.stringify(line)}\n`).join('')}`);
    await out.sync();
  } finally {
    await out.close();
  }
}

/** The result of verifying one chain. */
export interface ChainVerdict {
  /** The tenant; empty for the chain of acts on all tenants. */
  chain: string;
  rows: number;
  /** Rows that a version without chains wrote, and that were sealed as found. */
  sealedLater: number;
  /** Rows of that kind that are not sealed yet. */
  unsealed: number;
  /** Rows from which an erasure took a person's ids. */
  redacted: number;
  /** The last row whose hash is noted outside the store; undefined if none is. */
  notedUntil: number | undefined;
  /** Names of the keys that signed the noted heads. */
  signedBy: string[];
  /** The first row that is not as it was written. */
  trouble?: { row: number; what: Trouble; message: string };
}

type Trouble = 'changed' | 'missing' | 'doubled' | 'out of order' | 'shortened';

/** Verifies every chain, or one tenant's, against the heads noted in these files. */
export async function verifyAudit(
  store: Store,
  { tenantId, files }: { tenantId: string | undefined; files: readonly string[] },
): Promise<ChainVerdict[]> {
  const noted = await readNoted(store, files);
  const known = await sql<{ chain: string }>`select chain from audit_heads
    union select distinct coalesce(tenant_id, '') from audit`.execute(store.kysely);
  const chains = new Set([...known.rows.map(({ chain }) => chain), ...noted.keys()]);
  const wanted = tenantId === undefined ? [...chains].toSorted() : [tenantId];
  const verdicts: ChainVerdict[] = [];
  for (const chain of wanted) {
    const { hashes = new Map<number, string>(), signedBy = [] } = noted.get(chain) ?? {};
    verdicts.push({ ...(await verifyChain(store, chain, hashes)), signedBy: [...signedBy] });
  }
  return verdicts;
}

/** By chain: the noted hash of each row, and the keys that signed them. */
type Noted = Map<string, { hashes: Map<number, string>; signedBy: Set<string> }>;

/** Reads the noted heads and checks their signatures. @throws ConnectorError SIGNATURE_WRONG */
async function readNoted({ installationId }: Store, files: readonly string[]): Promise<Noted> {
  const noted: Noted = new Map();
  const put = ({ chain, seq, hash }: Head, signedBy: string): void => {
    const known = noted.get(chain) ?? { hashes: new Map<number, string>(), signedBy: new Set<string>() };
    known.hashes.set(seq, hash);
    known.signedBy.add(signedBy);
    noted.set(chain, known);
  };
  for (const file of files)
    for (const line of (await readFile(file, 'utf8')).split('\n')) {
      if (!line.includes('"signature"') || !/"(?:auditHead|seq)"/.test(line)) continue;
      const head = headIn(line);
      if (head === undefined) continue;
      assertSigned(head);
      if (head.installation !== installationId) continue;
      if (head.restored === undefined) put(head, head.signedBy);
      else {
        noted.clear();
        for (const [chain, [seq, hash]] of Object.entries(head.restored)) put({ chain, seq, hash }, head.signedBy);
      }
    }
  return noted;
}

/** Undefined for a line that was cut off: a later one has the head, too. */
function headIn(line: string): NotedHead | undefined {
  try {
    const read = JSON.parse(line) as NotedHead | { auditHead: NotedHead };
    return 'auditHead' in read ? read.auditHead : read;
  } catch {
    return undefined;
  }
}

async function verifyChain(
  store: Store,
  chain: string,
  noted: ReadonlyMap<number, string>,
): Promise<Omit<ChainVerdict, 'signedBy'>> {
  const heads = store.kysely.selectFrom('audit_heads').select(['chain', 'seq', 'hash']).where('chain', '=', chain);
  const head = await heads.executeTakeFirst();
  const unsealed = await sql<{ count: number }>`select count(*) as count from audit
    where seq is null and coalesce(tenant_id, '') = ${chain}`.execute(store.kysely);
  const judge = createJudge(chain, noted);
  let moved: number | undefined;
  for await (const row of rowsOf(store, chain)) {
    if (judge.take(row)) continue;
    moved = await followerOf(store, judge.last().hash, row);
    break;
  }
  const own = head === undefined ? [] : [[head.seq, head.hash] as const];
  return { ...judge.end([...own, ...noted], moved), unsealed: Number(unsealed.rows[0]?.count ?? 0) };
}

const PAGE = 1_000;

/** The rows of a chain in the order of their numbers, read page by page. */
async function* rowsOf({ kysely }: Store, chain: string, times: Times = {}): AsyncGenerator<AuditRow> {
  for (let after = Number.NEGATIVE_INFINITY, seen = 0; ; ) {
    let query = kysely.selectFrom('audit').selectAll().where('chain', '=', chain).orderBy('seq').limit(PAGE);
    // Two rows may share a number if somebody dropped the index: skip those of this number already read.
    if (after > Number.NEGATIVE_INFINITY) query = query.where('seq', '>=', after).offset(seen);
    if (times.from !== undefined) query = query.where('at', '>=', times.from);
    if (times.to !== undefined) query = query.where('at', '<', times.to);
    const rows = await query.execute();
    for (const row of rows) {
      seen = row.seq === after ? seen + 1 : 1;
      after = Number(row.seq);
      yield row;
    }
    if (rows.length < PAGE) return;
  }
}

/** Where the row that should follow was moved to; undefined if it is nowhere. */
async function followerOf({ kysely }: Store, prev: string, { chain, seq }: AuditRow): Promise<number | undefined> {
  const follower = await kysely
    .selectFrom('audit')
    .select('seq')
    .where(has({ chain, prev }))
    .where('seq', '!=', seq)
    .executeTakeFirst();
  return follower === undefined ? undefined : Number(follower.seq);
}

/** Takes the rows of a chain one by one until one does not fit. */
function createJudge(chain: string, noted: ReadonlyMap<number, string>) {
  let last = { seq: 0, hash: '' };
  let [rows, sealedLater] = [0, 0];
  /** Hashes of the text left in rows without a salt, and the hashes that erasures recorded for them. */
  const [blank, told] = [new Map<number, string>(), new Map<number, string>()];
  let trouble: { row: number; what: Trouble; about: string } | undefined;
  const find = (row: number, what: Trouble, about = ''): false => {
    trouble = { row, what, about };
    return false;
  };
  return {
    last: () => last,
    /** Returns false for the first row that does not fit. */
    take(row: AuditRow): boolean {
      const seq = Number(row.seq);
      const about = `${row.act}, ${new Date(row.at).toISOString()}, by ${row.by}`;
      if (seq <= last.seq) return find(seq, 'doubled', about);
      if (seq > last.seq + 1) return find(last.seq + 1, 'missing', `the next one there is ${seq}: ${about}`);
      if (row.hash === null || hashOfLink(row) !== row.hash) return find(seq, 'changed', about);
      if (row.prev !== last.hash)
        return seq === 1 ? find(1, 'changed', about) : find(seq - 1, 'changed', `row ${seq} was written after another`);
      const hash = noted.get(seq);
      if (hash !== undefined && hash !== row.hash)
        return find(seq, 'changed', `${about}; another hash of it was signed outside the store`);
      const details = row.details ?? '';
      if (row.details_hash === null && row.details !== null) return find(seq, 'changed', about);
      if (row.details_hash !== null && row.salt === null) blank.set(seq, hashOf(details));
      else if (row.details_hash !== null && hashOf(`${row.salt}\n${details}`) !== row.details_hash)
        return find(seq, 'changed', about);
      if (row.act === 'redacted')
        for (const { row: of, hash: left } of redactedIn(row)) if (of < seq) told.set(of, left);
      rows += 1;
      if (row.sealed === 'later') sealedLater += 1;
      last = { seq, hash: row.hash };
      return true;
    },
    /** The verdict. `ends` are rows that must be in the chain; `moved` is where the missing row was found. */
    end(ends: readonly (readonly [seq: number, hash: string])[], moved: number | undefined) {
      // Only for a chain that fits to its end: behind a row that does not fit, `redacted` rows were not read.
      if (trouble === undefined) {
        const [wrong] = [...blank].filter(([seq, hash]) => told.get(seq) !== hash);
        const [cut] = ends.filter(([seq]) => seq > last.seq).toSorted(([one], [other]) => other - one);
        const other = ends.find(([seq, hash]) => seq === last.seq && hash !== last.hash);
        if (wrong !== undefined) find(wrong[0], 'changed', 'no erasure says that its details were taken out');
        else if (cut !== undefined)
          find(last.seq + 1, 'shortened', `the chain went up to ${cut[0]}, and ends with ${last.seq}`);
        else if (other !== undefined) find(last.seq, 'changed', 'the head of the chain has another hash');
      } else if (moved !== undefined && (trouble.what === 'changed' || trouble.what === 'missing'))
        find(trouble.row, 'out of order', `the row that belongs there stands at ${moved}`);
      const reached = [...noted.keys()].filter((seq) => seq <= last.seq);
      return {
        chain,
        rows,
        sealedLater,
        redacted: blank.size,
        notedUntil: reached.length === 0 ? undefined : Math.max(...reached),
        ...(trouble === undefined ? {} : { trouble: { ...trouble, message: say(chain, trouble) } }),
      };
    },
  };
}

const SAYS: Record<Trouble, string> = {
  changed: 'is not as it was written',
  missing: 'is missing',
  doubled: 'is there twice',
  'out of order': 'is not the one that was written there',
  shortened: 'and what came after it are missing: the end of the chain was cut off',
};

function say(chain: string, { row, what, about }: { row: number; what: Trouble; about: string }): string {
  const whose = chain === FLEET ? 'of all tenants' : `of ${chain}`;
  return `Row ${row} of the audit trail ${whose} ${SAYS[what]}${about === '' ? '' : ` (${about})`}.`;
}

interface Times {
  /** Milliseconds by the database's clock. */
  from?: number | undefined;
  to?: number | undefined;
}

interface Wanted extends Times {
  tenantId: string | undefined;
  /** Holds the key that signs heads. */
  dataDir: string;
}

/** The rows in a form that outsiders can verify, oldest first; each chain's rows are followed by its signed head. */
export async function* exportAudit(store: Store, { tenantId, dataDir, ...times }: Wanted): AsyncGenerator<object> {
  const signer = openSigner(dataDir);
  const { installationId: installation } = store;
  let heads = store.kysely.selectFrom('audit_heads').select(['chain', 'seq', 'hash']).orderBy('chain');
  if (tenantId !== undefined) heads = heads.where('chain', '=', tenantId);
  for (const head of await heads.execute()) {
    for await (const { seq, at, salt, details_hash, prev, ...row } of rowsOf(store, head.chain, times)) {
      const { chain, by, actor, act, subject, details, sealed, hash } = row;
      const told = { chain, seq: Number(seq), at: Number(at), by, actor, act, subject, details, salt };
      yield { ...told, detailsHash: details_hash, sealed, prev, hash };
    }
    yield { head: signed(signer, { installation, at: new Date().toISOString(), ...asHead(head) }) };
  }
}
