import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clearHints, readHints } from '../../src/store/hints.ts';
import { insertHires } from '../../src/store/hires.ts';
import { recordHire, STARTS } from '../../src/store/observed-hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { runCommand } from '../harness/run-command.ts';
import { ACME } from '../tenants/acme.ts';
import { scratchDir } from './cli-process.ts';

const OBSERVES = `mode: observe\n${ACME}`;

/** A tenant that observed two hires, beside one of before; no worker runs. */
async function observing() {
  const [tenants, data] = [await scratchDir(), await scratchDir()];
  const file = join(tenants, 'acme.yaml');
  const places = ['--tenants', tenants, '--data', data];
  const cli = (...args: string[]) => runCommand([...args, ...places]);
  const withStore = async <T>(use: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore(`sqlite:${join(data, 'store.db')}`);
    return use(store).finally(() => store.close());
  };
  await writeFile(file, OBSERVES);
  expect(await cli('tenant', 'apply', '--unchecked', '--yes')).toMatchObject({ code: 0 });
  await withStore(async (store) => {
    const ref = (jobCandidateId: string) => ({ tenantId: 'acme', jobCandidateId, period: 1 });
    await insertHires(store, [{ ...ref('1'), state: 'before-go-live' }]);
    const create = { would: 'create', credits: 1 } as const;
    const ask = { would: 'ask', code: 'MAPPING_INCOMPLETE', message: 'm', credits: 1 } as const;
    const found = { candidateId: '88', jobId: '501', person: undefined };
    await recordHire(store, { ref: ref('2'), ...found, about: { observed: create } });
    await recordHire(store, { ref: ref('3'), ...found, about: { observed: ask } });
    await recordHire(store, { ref: ref('4'), ...found, about: { passedOver: 'its job is another tenant’s' } });
  });
  const requested = () =>
    withStore(async (store) => (await readHints(store, 'acme', STARTS)).map(({ recordId }) => recordId).toSorted());
  const forget = () =>
    withStore(async (store) => clearHints(store, 'acme', STARTS, await readHints(store, 'acme', STARTS)));
  const goLive = async () => writeFile(file, (await readFile(file, 'utf8')).replace('mode: observe\n', ''));
  return { cli, requested, forget, goLive };
}

test('what was observed is shown with its credits, one by one and together, and starts nothing', async () => {
  const { cli, requested } = await observing();
  const { stdout } = await cli('tenant', 'show', 'acme');
  expect(stdout).toContain('acme is active, and only observes');
  expect(stdout).toMatch(/^2 .*501 .*enrol \(1 credit\) and create an employee/m);
  expect(stdout).toMatch(/^3 .*501 .*ask a person \(MAPPING_INCOMPLETE\)/m);
  expect(stdout).toContain('2 hired while it only observed; starting them costs at most 2 credits.');
  const list = await cli('hire', 'list', '--tenant', 'acme');
  expect(list.stdout).toContain('would enrol (1 credit) and create an employee');
  const passed = await cli('hire', 'show', 'acme', '4', '--verbose');
  expect(passed.stdout).toContain('recorded as hired, and not started: its job is another tenant’s');
  const early = await cli('tenant', 'go-live', 'acme', '--since', '2020-01-01', '--yes');
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining('only observes') });
  expect(await requested()).toEqual([]);
});

test('going live lists whoever was hired meanwhile, and starts them on confirmation alone', async () => {
  const { cli, requested, goLive } = await observing();
  await goLive();
  const asked = await cli('tenant', 'apply', '--unchecked');
  expect(asked).toMatchObject({ code: 2, stdout: expect.stringContaining('costs at most 2 credits') });
  expect(await requested()).toEqual([]);
  expect((await cli('tenant', 'apply', '--unchecked', '--yes', '--as', 'ada')).stdout).toContain(
    'A worker starts those of acme',
  );
  expect(await requested()).toEqual(['2', '3']);
  expect((await cli('tenant', 'show', 'acme')).stdout).toMatch(/went-live by \S+ for ada: started: 2 3/);
});

test('whoever stayed recorded is started later, from the day on that they were first seen', async () => {
  const { cli, requested, forget, goLive } = await observing();
  await goLive();
  await cli('tenant', 'apply', '--unchecked', '--yes');
  await forget();
  expect(await cli('tenant', 'go-live', 'acme', '--since', '2999-01-01', '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Everybody observed since then is started already'),
  });
  const asked = await cli('tenant', 'go-live', 'acme', '--since', '2020-01-01');
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --yes') });
  expect(await requested()).toEqual([]);
  expect(await cli('tenant', 'go-live', 'acme', '--since', '2020-01-01', '--yes')).toMatchObject({ code: 0 });
  expect(await requested()).toEqual(['2', '3']);
  expect(await cli('tenant', 'go-live', 'acme', '--since', 'soon')).toMatchObject({ code: 2 });
  expect(await cli('tenant', 'go-live', 'nobody', '--since', '2020-01-01')).toMatchObject({ code: 2 });
});
