import { allEndpoints } from '../../src/partner/contract/index.ts';
import type { ControlClient } from '../../src/sandbox/control/client.ts';
import { cases } from '../sandbox/cases/cases.ts';
import type { World } from '../sandbox/cases/world.ts';

/** What only the dashboard makes, so that the requests of the collection meet records and not only refusals. */
export async function seedForTools({ act }: ControlClient): Promise<void> {
  await act('setCredits', { credits: 1_000_000, onboardingCredits: 1_000_000 });
  await act('createTeam', { name: 'Recruiting' });
  await act('inviteUser', { email: 'rae@example.com', status: 'ACTIVE' });
  await act('createSite', { name: 'Manila' });
  await act('verifyNumber', { phoneNumber: '+639170000001' });
  await act('createBookingSchedule', { availability: { days: [1, 2, 3, 4, 5, 6, 7] } });
}

/** Path parameters of a record made for each operation, for a tool that would otherwise guess ids and be told 404. */
export async function knownIds(world: World): Promise<Map<string, Record<string, unknown>>> {
  const known = new Map<string, Record<string, unknown>>();
  for (const { id, params } of allEndpoints()) {
    if (params === undefined) continue;
    const input = await cases.get(id)?.success(world);
    if (input?.params !== undefined) known.set(id, input.params);
  }
  return known;
}
