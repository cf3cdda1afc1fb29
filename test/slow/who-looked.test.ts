import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { systemUser } from '../../src/places.ts';
import { verifyAudit } from '../../src/store/audit.ts';
import { recordWrites } from '../../src/store/foreign-writes.ts';
import { insertHires } from '../../src/store/hires.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import type { Store } from '../../src/store/open-store.ts';
import { recordDigest } from '../../src/store/person-marks.ts';
import { tenantDir } from '../cli/cli-process.ts';
import { openConsole, TOKEN, type Visitor } from '../console/open-console.ts';
import { runCommand } from '../harness/run-command.ts';
import { unguardAudit } from '../store/stores.ts';

const BOB = 'a-token-of-bob-0123456789';
const PEOPLE = 49;
const DELIVERY = 'abcdef012345';
const AT_ONCE = 8;

/** Who looked, at what, and of whom, as a row should tell it. */
type Look = readonly [actor: string, by: string, act: string, what: string, of: string];

test('500 reads by two people in the console and by commands: each is a row, and tampering is found', async () => {
  const grants = [{ role: 'operator', tenants: 'all' }] as const;
  const access = {
    tokens: [
      { by: 'ann', token: TOKEN, grants },
      { by: 'bob', token: BOB, grants },
    ],
    oidc: undefined,
  };
  const { store, dataDir, signIn } = await openConsole({ access });
  const ids = Array.from({ length: PEOPLE }, (_, nth) => `9${1_000 + nth}`);
  await insertHires(
    store,
    ids.map((id) => ({ tenantId: 'acme', jobCandidateId: id, period: 1, state: 'open' })),
  );
  const origin = { tenantId: 'acme', by: 'hirebridge', runId: 'r', mappingHash: null };
  const write = { target: 'employee', kind: 'create', changes: { city: { new: 'Rome' } }, sensitive: [] } as const;
  await recordWrites(
    store,
    origin,
    ids.map((id) => ({ ...write, sensitive: [], recordId: id })),
  );
  const sent = { tenantId: 'acme', bodyHash: `${DELIVERY}6789`, event: 'x', ids: {}, body: '{}', state: 'waiting' };
  await insertDelivery(store, { ...sent, state: 'waiting' });

  const looks: Look[] = [];
  const [ann, bob] = [await signIn(), await signIn(BOB)];
  const reads: (() => Promise<void>)[] = [];
  const read = (visitor: Visitor, look: Look, does: (visitor: Visitor) => Promise<{ status: number }>): void => {
    looks.push(look);
    reads.push(async () => expect([look, (await does(visitor)).status]).toEqual([look, 200]));
  };
  for (const [visitor, by] of [
    [ann, 'ann'],
    [bob, 'bob'],
  ] as const) {
    const looked = (act: string, what: string, of = ''): Look => [`token:${by}`, by, act, what, of];
    for (const id of ids) {
      const of = await recordDigest(store, 'acme', { kind: 'job-candidate', id });
      const path = `/hires/acme/${id}`;
      for (let times = 0; times < 2; times += 1)
        read(visitor, looked('looked', 'story of a hire', of), (one) => one.get(path));
      for (let times = 0; times < 2; times += 1)
        read(visitor, looked('revealed', 'what was written for a hire', of), (one) => one.post(path, {}));
      // A page that is open refreshes itself: nobody looks anew.
      reads.push(async () => void (await visitor.get(path, { 'x-hirebridge-refresh': '1' })));
    }
    const delivery = await recordDigest(store, 'acme', { kind: 'delivery', id: DELIVERY });
    for (let times = 0; times < 18; times += 1)
      for (const [path, what, of] of [
        [`/deliveries/acme/${DELIVERY}`, 'payload of a delivery', delivery],
        ['/audit/acme/writes', 'what was written', ''],
        ['/streams/acme/conflicts', 'values where both sides differ', ''],
      ] as const)
        read(visitor, looked('revealed', what, of), (one) => one.post(path, {}));
  }
  const own = `user:${userInfo().uid}/${systemUser()}`;
  const first = ids[0] ?? '';
  const person = await recordDigest(store, 'acme', { kind: 'job-candidate', id: first });
  const record = await recordDigest(store, 'acme', { kind: 'record', id: first });
  const places = ['--data', dataDir, '--tenants', await tenantDir()];
  for (const [args, act, what, of, by] of [
    [['hire', 'show', 'acme', first], 'looked', 'story of a hire', person, ''],
    [
      ['audit', 'acme', '--record', first, '--reveal', '--as', 'eve'],
      'revealed',
      'what was written',
      record,
      ' for eve',
    ],
    [['audit', 'acme'], 'looked', 'what was written', '', ''],
    [['conflicts', 'acme'], 'looked', 'values where both sides differ', '', ''],
    [['person', 'find', 'acme', `application:${first}`], 'person-found', '1 id of one person', person, ''],
  ] as const) {
    looks.push([own, `${systemUser()}${by}`, act, what, of]);
    reads.push(async () => expect(await runCommand([...args, ...places])).toMatchObject({ code: 0, stderr: '' }));
  }
  expect(looks.length).toBeGreaterThanOrEqual(500);

  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = reads.shift(); next !== undefined; next = reads.shift()) await next();
    }),
  );
  const rows = await store.kysely.selectFrom('audit').selectAll().where('tenant_id', '=', 'acme').execute();
  const told = rows.map((row): Look => [row.actor ?? '', row.by, row.act, row.details ?? '', row.subject ?? '']);
  expect(told.map(String).toSorted()).toEqual(looks.map(String).toSorted());
  for (const id of ids) expect(JSON.stringify(rows)).not.toContain(`"${id}"`);
  const [verdict] = await verifyAudit(store, { tenantId: 'acme', files: [] });
  expect(verdict).toMatchObject({ rows: looks.length });
  expect(verdict?.trouble).toBeUndefined();
  for (const [what, does] of TAMPERINGS) expect([what, await troubleOnce(store, does)]).toEqual([what, what]);
});

type Tampering = (rows: Store['kysely'], seq: number) => Promise<unknown>;

const CHANGED = 250;
const move = async (rows: Store['kysely'], seq: number, to: number): Promise<void> =>
  void (await rows.updateTable('audit').set({ seq: to }).where('chain', '=', 'acme').where('seq', '=', seq).execute());
/** What the trail is found to have, and how whoever owns the tables brought it about. */
const TAMPERINGS: readonly [what: string, Tampering][] = [
  ['changed', (rows, seq) => rows.updateTable('audit').set({ by: 'bob' }).where('seq', '=', seq).execute()],
  ['missing', (rows, seq) => rows.deleteFrom('audit').where('seq', '=', seq).execute()],
  ['shortened', (rows, seq) => rows.deleteFrom('audit').where('seq', '>', seq).execute()],
  [
    'out of order',
    async (rows, seq) => {
      await move(rows, seq, 9_999);
      await move(rows, seq + 1, seq);
      await move(rows, 9_999, seq + 1);
    },
  ],
];

/** What is found wrong, after which the trail is as it was. */
async function troubleOnce(store: Store, does: Tampering): Promise<string | undefined> {
  let what: string | undefined;
  const undo = new Error('put back');
  const tampered = store.kysely.transaction().execute(async (trx) => {
    await unguardAudit(store.kind, trx, async () => void (await does(trx, CHANGED)));
    const [verdict] = await verifyAudit({ ...store, kysely: trx }, { tenantId: 'acme', files: [] });
    what = verdict?.trouble?.what;
    throw undo;
  });
  await tampered.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return what;
}
