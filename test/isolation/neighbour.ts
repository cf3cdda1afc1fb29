import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPartnerClient } from '../../src/partner/client/create-partner-client.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../src/sandbox/control/client.ts';
import { landings } from '../../src/streams/streams.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { type FaultProxy, startFaultProxy } from '../harness/fault-proxy.ts';
import { startProcess } from '../harness/run-product.ts';
import type { World } from '../harness/world.ts';
import { type Applicant, defineStartDate, listApplicants } from '../harness/world-people.ts';
import { TENANT, writeTenant } from '../harness/world-tenant.ts';

/** The tenant that has its worst day. */
export const NEIGHBOUR = 'globex';
/** The address of its HR system, in the folder of the tenant files. */
const HRIS_FILE = `${NEIGHBOUR}-hris.url`;

export interface NeighbourOptions {
  candidates: number;
  /** People hired long ago. */
  hired: number;
  notify?: string;
  /** Its HR system, instead of SQLite in the world's directory; a secret. */
  hrisUrl?: string;
}

/** A second tenant in the same store and worker, with a sandbox and an HR system of its own. */
export interface Neighbour {
  control: ControlClient;
  /** People on a job who may be hired; none are listed of a large company. */
  applicants: Applicant[];
  /** Between the product and its partner. */
  line: FaultProxy;
  close(): Promise<void>;
}

/** Its file is in the world's folder afterwards: taken with the first start, or when it is applied. */
export async function addNeighbour(world: World, options: NeighbourOptions): Promise<Neighbour> {
  const webhookKey = `whk_${randomBytes(16).toString('hex')}`;
  const apiKey = `sk_test_${randomBytes(11).toString('hex')}`;
  const flags = {
    seed: 11,
    jobs: 3,
    candidates: options.candidates,
    hired: options.hired,
    port: 0,
    'control-port': 0,
    'webhook-url': world.webhookUrl.replace(TENANT, NEIGHBOUR),
    'webhook-key': webhookKey,
    key: apiKey,
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const out = createWriteStream(join(world.dir, 'neighbour.log'));
  const sandbox = await startProcess(['sandbox', ...args], { LOG_FORMAT: 'json', LOG_LEVEL: 'error' }, out);
  const { partner: baseUrl = '', company = '', control = '' } = sandbox.facts;
  const partner = createPartnerClient({ baseUrl, apiKey, environment: 'sandbox', allowPrivate: true });
  const line = await startFaultProxy(Number(new URL(baseUrl).port));
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  const isSmall = options.candidates <= 1_000;
  await defineStartDate(partner, isSmall);
  const applicants = isSmall ? await listApplicants(partner) : [];
  const ownHris = `sqlite:${join(world.dir, 'neighbour-hris.db')}`;
  if (options.hrisUrl === undefined) await ensureHrisSchema(ownHris, undefined, landings);
  if (options.hrisUrl !== undefined) await writeFile(join(world.tenantsDir, HRIS_FILE), options.hrisUrl);
  await writeTenant(world.tenantsDir, {
    tenant: NEIGHBOUR,
    partnerUrl: baseUrl.replace(new URL(baseUrl).port, `${line.port}`),
    apiKey,
    webhookKey,
    company,
    flowId: flows[0]?.flowId ?? '',
    hrisUrl: options.hrisUrl === undefined ? ownHris : `file:${HRIS_FILE}`,
    ...(options.notify === undefined ? {} : { notify: options.notify }),
  });
  return {
    control: createControlClient(control),
    applicants,
    line,
    async close() {
      await Promise.all([partner.close(), line.close(), sandbox.kill()]);
      out.end();
    },
  };
}
