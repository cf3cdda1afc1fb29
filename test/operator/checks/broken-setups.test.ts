import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { insertHires } from '../../../src/store/hires.ts';
import { openHold } from '../../../src/store/holds.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { noteProcess } from '../../../src/store/processes.ts';
import { finishBaseline, readTenantState } from '../../../src/store/tenant-states.ts';
import { sendDelivery } from '../../harness/send-delivery.ts';
import { startWorld, type World } from '../../harness/world.ts';

interface Setup {
  /** What is wrong in the tenant file of the healthy tenant. */
  spoil?: (file: string, world: World) => string;
  /** The key that its webhooks carry. */
  webhookKey?: string;
  /** Cause, then next step, as some command prints them. */
  says: RegExp;
}

const HELD = { code: 'MAPPING_INCOMPLETE', message: 'startDate is empty. Fill it in, then answer retry.' };

const setups: Record<string, Setup> = {
  'wrong-key': {
    spoil: (file) => file.replace('file:secrets/partner.key', 'file:secrets/other.key'),
    says: /fail +key .*INVALID_API_KEY.*the key is not accepted: check it/,
  },
  'wrong-company': {
    spoil: (file) => file.replace(/company: .*/, 'company: "999999"'),
    says: /fail .*company.*Correct partner\.company/,
  },
  'wrong-webhook-key': {
    webhookKey: 'whk_of_somebody_else',
    says: /Webhooks of wrong-webhook-key are refused \(WEBHOOK_KEY_WRONG.*compare the key/,
  },
  'wrong-flow': {
    spoil: (file, { flowId }) => file.replace(flowId, 'no-such-flow'),
    says: /flow no-such-flow does not exist.*Correct policies\.onboarding\.flow/,
  },
  'inactive-flow': {
    spoil: (file, { flowId }) => file.replace(flowId, 'INACTIVE_FLOW'),
    says: /flow \S+ is not active: its status is INACTIVE.*Activate it/,
  },
  'missing-column': {
    spoil: (file) => file.replace('policies:', '  fields: { title: { column: no_such_column } }\npolicies:'),
    says: /has no column no_such_column.*hris\.fields/,
  },
  'unreachable-hris': {
    spoil: (file) => file.replace(/url: "sqlite.*"/, 'url: postgres://nobody@127.0.0.1:1/hr'),
    says: /fail +hris .*HRIS_UNREACHABLE|fail +hris .*(?:not answer|unreachable|reach)/i,
  },
  'blocked-hire': { says: /MAPPING_INCOMPLETE.*startDate is empty.*answer retry/s },
  healthy: { says: /ok +hris/ },
};

/** One partner and one HRIS; a tenant for each set-up, each with its webhooks and one open hire. */
async function prepare(world: World): Promise<void> {
  const { flowId } = await world.control.act('createOnboardingFlow', {
    name: 'Old',
    status: 'INACTIVE',
    steps: [{ stepKey: 'doc_collection' }],
  });
  const good = await readFile(join(world.tenantsDir, 'acme.yaml'), 'utf8');
  await writeFile(join(world.tenantsDir, 'secrets', 'other.key'), `sk_test_${'0'.repeat(22)}\n`);
  const store = await openStore(world.storeUrl);
  for (const [name, { spoil }] of Object.entries(setups)) {
    const file = good.replace('tenant: acme', `tenant: ${name}`).replace('acme-hr', `hr-of-${name}`);
    const spoilt = (spoil?.(file, world) ?? file).replace('INACTIVE_FLOW', String(flowId));
    await writeFile(join(world.tenantsDir, `${name}.yaml`), spoilt);
    await readTenantState(store, name);
    await finishBaseline(store, name);
    const hire = { tenantId: name, jobCandidateId: '5012', period: 1 } as const;
    await insertHires(store, [{ ...hire, state: 'open', jobId: '9' }]);
    if (name === 'blocked-hire') await openHold(store, { ...hire, ...HELD, answers: ['retry', 'cancel'] });
  }
  await store.close();
}

/** Neither runs while the commands are asked, and neither is to be missed. */
async function pretendToRun({ storeUrl }: World): Promise<void> {
  const store = await openStore(storeUrl);
  for (const role of ['worker', 'receiver'] as const)
    await noteProcess(store, { processId: role, role, version: '0', host: 'here' });
  await store.kysely
    .updateTable('processes')
    .set((eb) => ({ seen_at: eb('seen_at', '+', 3_600_000) }))
    .where('host', '=', 'here')
    .execute();
  await store.close();
}

async function deliverToAll(world: World): Promise<void> {
  const receiver = await world.startReceiver();
  for (const [name, { webhookKey = world.webhookKey }] of Object.entries(setups)) {
    const body = JSON.stringify({ event: 'candidate.updated', companyId: Number(world.company), data: { name } });
    await sendDelivery(world.webhookUrl.replace(/acme$/, name), { body, key: webhookKey });
  }
  await receiver.stop();
}

/** What an engineer reads of one tenant; `status` is of all, so only its lines about this one. */
async function readOutput(
  world: World,
  tenant: string,
  status: string,
): Promise<{ code: number | null; text: string }> {
  const commands = [
    ['check', tenant],
    ['hire', 'show', tenant, '5012', '--verbose'],
  ];
  const [check, shown] = await Promise.all(commands.map((args) => world.cli(args)));
  const own = status.split('\n').filter((line) => new RegExp(`(^|\\s)${tenant}(\\s|$)`).test(line));
  return { code: check?.code ?? null, text: [check?.stdout, shown?.stdout, ...own].join('\n') };
}

/** What the files say decides; what was received before does not. */
async function expectApplyRefuses(world: World, failing: readonly string[]): Promise<void> {
  for (const name of Object.keys(setups))
    await appendFile(join(world.tenantsDir, `${name}.yaml`), '# looked at again\n');
  const refused = await world.cli(['tenant', 'apply', '--yes']);
  expect(refused).toMatchObject({ code: 2, stdout: expect.stringContaining('Nothing was applied') });
  const named = refused.stdout.split('\n').flatMap((line) => /^fail +(\S+) /.exec(line)?.[1] ?? []);
  expect(new Set(named)).toEqual(new Set(failing.filter((name) => name !== 'wrong-webhook-key')));
  const applied = await world.cli(['tenant', 'apply', '--yes', '--unchecked']);
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining('Applied.') });
}

test('check, status and hire show name the cause of eight broken set-ups, and apply refuses them', async () => {
  const world = await startWorld({ temporalAddress: '127.0.0.1:1' });
  try {
    await prepare(world);
    await deliverToAll(world);
    await pretendToRun(world);
    const status = (await world.cli(['status', '--verbose'])).stdout;
    const outputs = new Map<string, { code: number | null; text: string }>();
    for (const name of Object.keys(setups)) outputs.set(name, await readOutput(world, name, status));
    for (const [name, { says }] of Object.entries(setups)) expect(outputs.get(name)?.text, name).toMatch(says);
    const healthy = outputs.get('healthy');
    for (const [name, { says }] of Object.entries(setups))
      if (name !== 'healthy') expect(healthy?.text, name).not.toMatch(says);
    expect(healthy?.text).not.toMatch(/^(warn|fail)/m);
    const codes = Object.fromEntries([...outputs].map(([name, { code }]) => [name, code]));
    const failing = Object.keys(setups).filter((name) => name !== 'healthy' && name !== 'blocked-hire');
    await expectApplyRefuses(world, failing);
    expect(codes).toEqual({ healthy: 0, 'blocked-hire': 0, ...Object.fromEntries(failing.map((name) => [name, 2])) });
  } finally {
    await world.close();
  }
});
