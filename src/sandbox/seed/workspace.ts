import type { Context } from '../context.ts';
import { createSite, setNumberVerified } from '../records/campaigns/sites.ts';
import { createTeam } from '../records/workspace/teams.ts';
import { createUser } from '../records/workspace/users.ts';

/**
 * What a company has before anybody uses the API: people, teams, sites, a number to call from. The first user is the
 * API key's.
 */
export function seedWorkspace(ctx: Context): void {
  const at = `company-${String(ctx.company.id)}.example`;
  const owner = createUser(ctx, {
    email: `olivia.hart@${at}`,
    firstName: 'Olivia',
    lastName: 'Hart',
    status: 'ACTIVE',
    role: 'Super Admin',
    isCompanyAdmin: true,
  });
  const [care, hotels] = ['Care', 'Hotels'].map((name) => createTeam(ctx, name, owner.id).id) as [string, string];
  const admin = createUser(ctx, {
    email: `mateo.ruiz@${at}`,
    firstName: 'Mateo',
    lastName: 'Ruiz',
    status: 'ACTIVE',
    role: 'Admin',
    isCompanyAdmin: true,
    invitedById: owner.id,
    teamIds: [care, hotels],
    reportingManagerId: owner.id,
  });
  const invited = { role: 'Recruiter', invitedById: admin.id, reportingManagerId: admin.id };
  createUser(ctx, {
    ...invited,
    email: `aiko.tanaka@${at}`,
    firstName: 'Aiko',
    lastName: 'Tanaka',
    status: 'ACTIVE',
    teamIds: [care],
  });
  createUser(ctx, { ...invited, email: `noah.becker@${at}`, firstName: 'Noah', lastName: 'Becker', teamIds: [hotels] });
  createUser(ctx, { ...invited, email: `lina.osei@${at}`, role: null, status: 'EXPIRED' });
  createSite(ctx, { name: 'Head office', timezone: 'Europe/London', linked: true });
  createSite(ctx, { name: 'Manila', timezone: 'Asia/Manila', linked: true });
  createSite(ctx, { name: 'Warehouse', timezone: 'Europe/Berlin', linked: false });
  // A range reserved for fiction: it reaches nobody.
  setNumberVerified(ctx, '+442079460000', true);
}
