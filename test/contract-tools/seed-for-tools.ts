import { createControlClient } from '../../src/sandbox/control/client.ts';

/** What only the dashboard makes, so that the requests of the collection meet records and not only refusals. */
export async function seedForTools(controlUrl: string): Promise<void> {
  const { act } = createControlClient(controlUrl);
  await act('setCredits', { credits: 1_000_000, onboardingCredits: 1_000_000 });
  await act('createTeam', { name: 'Recruiting' });
  await act('inviteUser', { email: 'rae@example.com', status: 'ACTIVE' });
  await act('createSite', { name: 'Manila' });
  await act('verifyNumber', { phoneNumber: '+639170000001' });
  await act('createBookingSchedule', { availability: { days: [1, 2, 3, 4, 5, 6, 7] } });
}
