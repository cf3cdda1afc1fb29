import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { KyselyPlugin } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readStatus, type Status } from '../../../src/operator/status.ts';
import { applyDefinitions } from '../../../src/store/applied-tenants.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { openHold } from '../../../src/store/holds.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { currentTenants } from '../../../src/tenants/current-tenants.ts';
import { root } from '../../architecture/tree.ts';
import { freshStoreUrl, kinds } from '../../store/stores.ts';

const run = promisify(execFile);
const MOST_STATEMENTS = 20;

/** The status of so many tenants, each with a hire and a hold, and how many statements it took. */
async function statusOf(
  kind: (typeof kinds)[number],
  tenants: number,
): Promise<{ status: Status; statements: number }> {
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      statements += 1;
      return result;
    },
  };
  const store = await openStore(await freshStoreUrl(kind), { plugins: [counter] });
  onTestFinished(() => store.close());
  const ids = Array.from({ length: tenants }, (_, n) => `tenant-${n}`);
  const unread = { file: '/unread.yaml', files: {}, over: null, changes: [] };
  const receives = { webhooks: 'on' as const, webhookKeys: [] };
  const definitions = ids.map((tenantId) => ({ tenantId, ...unread, receives }));
  await applyDefinitions(store, definitions, 'ada');
  const hires = ids.map((tenantId) => ({ tenantId, jobCandidateId: '7', period: 1 }));
  await insertHires(
    store,
    hires.map((hire) => ({ ...hire, state: 'open' })),
  );
  for (const hire of hires) await openHold(store, { ...hire, code: 'TEST', message: 'A test.', answers: ['retry'] });
  statements = 0;
  return { status: await readStatus(store, await currentTenants(store, '/nowhere')), statements };
}

describe.each(kinds)('status on %s', (kind) => {
  test('asks the store as often for forty tenants as for two', async () => {
    const [few, many] = [await statusOf(kind, 2), await statusOf(kind, 40)];
    expect(many.status.tenants).toHaveLength(40);
    expect(many.status.holds).toHaveLength(40);
    expect(many.statements).toBe(few.statements);
    expect(many.statements).toBeLessThanOrEqual(MOST_STATEMENTS);
  });
});

/** Prints the path of each file that is loaded with what `status` reads. */
const PROBE = `
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
  await import('./src/operator/status.ts');
  await import('./src/tenants/current-tenants.ts');
  await import('./src/cli/status.ts');
  console.log(JSON.stringify(urls));
`;

test('status loads no mapping, no HR system, no stream and no client: that took longer than all it reads', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', PROBE], { cwd: root });
  const loaded = (JSON.parse(stdout) as string[]).map((url) => url.slice(url.indexOf(root) + root.length + 1));
  expect(loaded).toContain('src/store/holds.ts');
  const heavy = /^(src\/(mapping|hris|streams|http|temporal|partner)|activities|workflows)\//;
  expect(loaded.filter((file) => heavy.test(file))).toEqual([]);
});
