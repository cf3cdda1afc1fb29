import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Remains } from '../../operator/tenants/read-tenants.ts';
import type { Verb } from '../../operator/tenants/steer-tenant.ts';
import type { Store } from '../../store/open-store.ts';
import { example, placesOf } from '../options.ts';
import { withStore } from '../with-store.ts';
import { asOption, byOf } from './by.ts';

export function addPause(tenant: Command): void {
  steering(tenant, 'pause', 'All work of a tenant waits; its webhooks are stored. Needs no Temporal.');
}

export function addResume(tenant: Command): void {
  steering(tenant, 'resume', 'Let a tenant go on that was paused by `tenant pause`. Needs no Temporal.');
}

export function addRemove(tenant: Command): void {
  steering(
    tenant,
    'remove',
    'End a tenant: its webhooks are answered 410, a worker ends its schedules and workflows. Needs no Temporal.',
  );
}

function steering(tenant: Command, verb: Verb, description: string): void {
  asOption(tenant.command(verb).description(description).argument('<tenant>', 'tenant that is meant'))
    .addHelpText('after', example(`hirebridge tenant ${verb} acme`))
    .action(async (tenantId: string, options: { as?: string }, command: Command) => {
      const { steerTenant } = await import('../../operator/tenants/steer-tenant.ts');
      const act = async (store: Store): Promise<string> => {
        await steerTenant(store, verb, { tenantId, by: byOf(options) });
        return verb === 'remove' ? describeRemoval(store, tenantId) : done[verb](tenantId);
      };
      process.stdout.write(await withStore(await placesOf(command), act, { mustExist: true }));
    });
}

const done = {
  pause: (id: string) => `${id} is paused: its work waits, its webhooks are stored.\n`,
  resume: (id: string) => `${id} goes on within seconds.\n`,
} as const;

/** How long the command waits for a worker to end what runs. */
const WAIT_MS = 30_000;

async function describeRemoval(store: Store, tenantId: string): Promise<string> {
  const { readRemains } = await import('../../operator/tenants/read-tenants.ts');
  let remains = await readRemains(store, tenantId);
  for (const end = performance.now() + WAIT_MS; !remains.ended && performance.now() < end; ) {
    await delay(500);
    remains = await readRemains(store, tenantId);
  }
  return `${[...endLines(tenantId, remains), ...leftLines(remains)].join('\n')}\n`;
}

function endLines(tenantId: string, { ended, writeUnderWay }: Remains): string[] {
  if (ended) return [`${tenantId} is removed: its webhooks are answered 410, its schedules and workflows have ended.`];
  const why = writeUnderWay ? 'a write is still under way' : 'no worker has done so yet';
  return [`${tenantId} is removed, and its schedules and workflows are still to be ended: ${why}.`];
}

function leftLines({ hires, openHolds, unsettled }: Remains): string[] {
  const counts = Object.entries(hires).map(([state, count]) => `${count} ${state}`);
  const asked = `${unsettled} hires have sent a request for an employee: look in the HR system what became of it.`;
  return [
    ...(unsettled === 0 ? [] : [asked]),
    `What is left: hires ${counts.length === 0 ? 'none' : counts.join(', ')}; open holds ${openHolds}; ` +
      'links, inbox and audit stay in the store.',
    'Employees, enrolments and its webhook subscription stay where they are: end the subscription at the partner.',
  ];
}
