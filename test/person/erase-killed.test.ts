import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensureHrisSchema } from '../../src/hris/sql/ensure-hris-schema.ts';
import { sqlOptions } from '../../src/hris/sql/options.ts';
import { openLandingTables } from '../../src/hris/sql/sql.ts';
import { ERASURES_FILE } from '../../src/store/erase-restored.ts';
import { askErasure, type ErasureReceipt } from '../../src/store/erasures.ts';
import { openStore } from '../../src/store/open-store.ts';
import { completeIds, findPersonRows } from '../../src/store/person-data.ts';
import { assertSigned, openSigner } from '../../src/store/signing-key.ts';
import { landings } from '../../src/streams/streams.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { type SeededPerson, seedEverywhere } from '../store/seeded-person.ts';

const EVA: SeededPerson = { tenant: 'acme', candidate: '501', application: '9501', enrolment: '7501', employee: '31' };
const BEN: SeededPerson = { tenant: 'acme', candidate: '502', application: '9502', enrolment: '7502', employee: '32' };

/** A store and an HR database with two people, one of whom is to be erased. */
async function asked() {
  const dir = await scratchFolder();
  const storeUrl = `sqlite:${join(dir, 'store.db')}`;
  const hrisUrl = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(hrisUrl, {}, landings);
  const { landing, close } = openLandingTables(sqlOptions(landings).parse({ url: hrisUrl }));
  const options = { tenant: 'acme', signal: new AbortController().signal };
  const rows = [EVA, BEN].map(({ candidate: id }) => ({ id, hash: id, fields: { givenName: `name-${id}` } }));
  await landing.land('candidates', rows, options);
  const store = await openStore(storeUrl, { relaxed: true });
  onTestFinished(async () => {
    await Promise.all([store.close(), close()]);
  });
  for (const person of [EVA, BEN]) await seedEverywhere(store, person);
  const ids = { candidates: ['501'], jobCandidates: [], enrolments: [], employees: [] };
  const subject = await completeIds(store, 'acme', ids);
  const asking = { subject, by: 'ann', reason: 'request', employee: 'keep' } as const;
  const { erasure_id: erasure } = await askErasure(store, asking);
  const carryOut = (env: NodeJS.ProcessEnv) => runChild([storeUrl, hrisUrl, dir, erasure], env);
  return { dir, store, subject, erasure, carryOut, landed: () => landing.ids('candidates', { ...options, most: 9 }) };
}

async function runChild(args: string[], env: NodeJS.ProcessEnv): Promise<{ signal: string | null; stdout: string }> {
  const script = join(import.meta.dirname, 'erase-process.ts');
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (some: Buffer) => (stdout += some.toString()));
  child.stderr.on('data', (some: Buffer) => (stderr += some.toString()));
  const signal = await new Promise<string | null>((resolve) => child.on('close', (_code, by) => resolve(by)));
  if (signal === null && stdout === '') throw new Error(stderr);
  return { signal, stdout };
}

/** What a receipt says of the work itself. */
function saysOf({ erased, left, lastLook, person, employee }: ErasureReceipt) {
  return { erased, left, lastLook, person: person.length, employee };
}

/** `EVERY_POINT=1` kills at each, which takes minutes. */
test('an erasure that is killed anywhere ends complete, once, and with the receipt of one that was not', {
  timeout: 600_000,
}, async () => {
  const whole = await asked();
  const listFile = join(whole.dir, 'points');
  const receipt = JSON.parse((await whole.carryOut({ HIREBRIDGE_FAILPOINT_LIST: listFile })).stdout) as ErasureReceipt;
  expect(receipt.erased).toMatchObject({ hires: 1, 'landing table of candidates': 1 });
  const passed = (await readFile(listFile, 'utf8')).trim().split('\n');
  const points = passed.flatMap((point, at) => {
    const nth = passed.slice(0, at + 1).filter((one) => one === point).length;
    return point.startsWith('erase/') && !point.includes('.leases') ? [`${point}#${nth}`] : [];
  });
  expect(points.length).toBeGreaterThan(20);
  const chosen = process.env['EVERY_POINT'] === undefined ? points.filter((_, nth) => nth % 20 === 4) : points;
  for (const point of chosen) {
    const { store, subject, erasure, carryOut, landed, dir } = await asked();
    expect(await carryOut({ HIREBRIDGE_FAILPOINT_KILL: point }), point).toMatchObject({ signal: 'SIGKILL' });
    // The lease of the killed process would be waited for.
    await store.kysely.deleteFrom('leases').execute();
    const again = JSON.parse((await carryOut({})).stdout) as ErasureReceipt;
    expect(saysOf(again), point).toEqual(saysOf(receipt));
    assertSigned(again, openSigner(dir).keyId);
    expect(await findPersonRows(store, subject), point).toEqual([]);
    expect(await landed(), point).toEqual(['502']);
    const acts = store.kysely.selectFrom('audit').select('details').where('act', '=', 'erased');
    expect(await acts.execute(), point).toEqual([{ details: erasure }]);
    const listed = (await readFile(join(dir, ERASURES_FILE), 'utf8')).trim().split('\n');
    expect(listed, point).toHaveLength(1);
    expect(JSON.parse((await carryOut({})).stdout), point).toEqual(again);
  }
});

test('a receipt that was changed is no longer valid, and neither is one of another key', async () => {
  const { dir, carryOut } = await asked();
  const receipt = JSON.parse((await carryOut({})).stdout) as ErasureReceipt;
  expect(() => assertSigned(receipt, openSigner(dir).keyId)).not.toThrow();
  expect(() => assertSigned({ ...receipt, erased: {} } as ErasureReceipt)).toThrow(/does not fit the document/);
  const other = openSigner(await scratchFolder()).keyId;
  expect(() => assertSigned(receipt, other)).toThrow(/not the one of this data directory/);
});
