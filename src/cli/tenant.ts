import type { Command } from 'commander';
import type { Store } from '../store/open-store.ts';
import { example, placesOf } from './options.ts';
import { addApply } from './tenant/apply.ts';
import { byOf } from './tenant/by.ts';
import { addGoLive } from './tenant/go-live.ts';
import { addList, addShow } from './tenant/look.ts';
import { addPause, addRemove, addResume } from './tenant/steer.ts';
import { withStore } from './with-store.ts';

export function addTenant(program: Command): void {
  const tenant = program.command('tenant').description('Apply, show, pause, resume and remove tenants.');
  for (const add of [addApply, addGoLive, addList, addShow, addPause, addResume, addRemove]) add(tenant);
  tenant
    .command('confirm-company')
    .description("Say that the key of a tenant paused for COMPANY_MISMATCH is the right company's. Needs no Temporal.")
    .argument('<tenant>', 'tenant that is paused')
    .option('--as <name>', 'who confirms; by default the user of this system')
    .addHelpText('after', example('hirebridge tenant confirm-company acme'))
    .action(runConfirmCompany);
}

async function runConfirmCompany(tenantId: string, options: { as?: string }, command: Command): Promise<void> {
  const by = byOf(options);
  const places = await placesOf(command);
  const [{ confirmCompany }, { assertKnownTenant }, { currentTenants }] = await Promise.all([
    import('../operator/tenants/confirm-company.ts'),
    import('../operator/assert-known-tenant.ts'),
    import('../tenants/current-tenants.ts'),
  ]);
  const confirm = async (store: Store): Promise<void> => {
    const known = await currentTenants(store, places.tenantsDir);
    assertKnownTenant(
      known.map((one) => ({ tenant: one.tenantId })),
      tenantId,
    );
    await confirmCompany(store, { tenantId, by });
  };
  await withStore(places, confirm, { mustExist: true });
  process.stdout.write(
    `The company of ${tenantId} is confirmed by ${by}. The worker resumes the tenant; see: hirebridge status\n`,
  );
}
