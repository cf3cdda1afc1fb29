import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { example, placesOf } from './options.ts';
import { withStore } from './with-store.ts';

export function addTenant(program: Command): void {
  const tenant = program.command('tenant').description('What a person says about a tenant.');
  tenant
    .command('confirm-company')
    .description("Say that the key of a tenant paused for COMPANY_MISMATCH is the right company's. Needs no Temporal.")
    .argument('<tenant>', 'tenant that is paused')
    .option('--as <name>', 'who confirms; by default the user of this system')
    .addHelpText('after', example('hirebridge tenant confirm-company acme'))
    .action(runConfirmCompany);
}

async function runConfirmCompany(tenantId: string, options: { as?: string }, command: Command): Promise<void> {
  const by = options.as ?? userInfo().username;
  const places = placesOf(command);
  const [{ confirmCompany }, { assertKnownTenant }, { loadTenants }] = await Promise.all([
    import('../operator/confirm-company.ts'),
    import('../operator/assert-known-tenant.ts'),
    import('../tenants/load-tenants.ts'),
  ]);
  assertKnownTenant(await loadTenants(places.tenantsDir, { secrets: 'skip' }), tenantId);
  await withStore(places, (store) => confirmCompany(store, { tenantId, by }), { mustExist: true });
  process.stdout.write(
    `The company of ${tenantId} is confirmed by ${by}. The worker resumes the tenant; see: hirebridge status\n`,
  );
}
