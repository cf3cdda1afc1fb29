import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { appendFile, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { startProcess } from '../harness/run-product.ts';
import type { World } from '../harness/world.ts';
import { writeTenant } from '../harness/world-tenant.ts';

export interface FleetOptions {
  tenants: number;
  /** Of them, so many pull a stream on a schedule. */
  streaming: number;
  /** Between reconciles, as in a tenant file. */
  every: string;
  /** People hired long ago, whom all of them have. */
  hired?: number;
}

/** Writes the files of further tenants, each with an HR system of its own; one sandbox answers for all of theirs. */
export async function addFleet(
  world: World,
  { tenants, streaming, every, hired = 2 }: FleetOptions,
): Promise<() => Promise<void>> {
  const apiKey = `sk_test_${randomBytes(11).toString('hex')}`;
  const webhookKey = `whk_${randomBytes(16).toString('hex')}`;
  const out = createWriteStream(join(world.dir, 'fleet.log'));
  const flags = { seed: 23, jobs: 2, candidates: 20, hired, port: 0, 'control-port': 0, key: apiKey };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const sandbox = await startProcess(['sandbox', ...args], { LOG_FORMAT: 'json', LOG_LEVEL: 'error' }, out);
  const { partner: partnerUrl = '' } = sandbox.facts;
  const partner = createPartnerClient({ baseUrl: partnerUrl, apiKey, environment: 'sandbox', allowPrivate: true });
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  await partner.close();
  const folder = join(world.dir, 'fleet');
  await mkdir(folder);
  const empty = join(folder, 'empty.db');
  await ensureHrisSchema(`sqlite:${empty}`, undefined, landings);
  const policies = `onboarding: { flow: "{flow}" }\n  reconcile: { every: ${every} }`;
  for (let n = 1; n <= tenants; n += 1) {
    const tenant = `fleet-${n}`;
    const hris = join(folder, `${tenant}.db`);
    await copyFile(empty, hris);
    const facts = { tenant, partnerUrl, apiKey, webhookKey, company: `${n}`, flowId: flows[0]?.flowId ?? '', policies };
    await writeTenant(world.tenantsDir, { ...facts, hrisUrl: `sqlite:${hris}` });
    if (n <= streaming)
      await appendFile(join(world.tenantsDir, `${tenant}.yaml`), `streams:\n  jobs: { every: ${every} }\n`);
  }
  return async () => {
    await sandbox.kill();
    out.end();
  };
}
