import type { HrisConnection } from '../../src/hris/port.ts';
import type { HrisUnderTest, Powers } from '../../src/hris-kit/hris-under-test.ts';
import { httpPowers, moodPowers } from './http-powers.ts';
import { type HrisProfile, ownClock } from './profile.ts';

/** A kind that a definition describes, and its counterpart. */
export interface DefinedUnderTest {
  profile: HrisProfile;
  server: {
    url: string;
    mood: 'well' | 'throttled' | 'revoked';
    add(count: number): string[];
    touch(ids: readonly string[]): void;
    restart(): Promise<void>;
  };
  /** Where its paths begin, and what makes an employee and changes one. */
  calls: { base: string; create: string; amendment: 'PUT' | 'PATCH' };
  open(url: string): Promise<HrisConnection>;
  count(): number;
  powers?: Partial<Powers>;
  lacks: HrisUnderTest['lacks'];
}

export async function definedUnderTest(given: DefinedUnderTest): Promise<HrisUnderTest> {
  const { profile, server, calls, open } = given;
  const openHere = () => open(server.url);
  const [adapter, second] = await Promise.all([openHere(), openHere()]);
  return {
    profile,
    adapter,
    second,
    count: async () => given.count(),
    powers: {
      ...httpPowers({
        url: server.url,
        // A proxy before it is named by its origin alone.
        open: ({ url }) => open(url.endsWith(calls.base) ? url : `${url.replace(/\/$/, '')}${calls.base}`),
        isCreate: ({ method, path }) => method === 'POST' && path.endsWith(calls.create),
        isUpload: ({ method, path }) => method === 'POST' && path.endsWith('/files'),
        isAmendment: ({ method }) => method === calls.amendment,
      }),
      ...moodPowers(() => server, openHere),
      restart: () => server.restart(),
      ownClock,
      people: { add: async (count) => server.add(count), touch: async (ids) => server.touch(ids) },
      ...given.powers,
    },
    lacks: {
      ...given.lacks,
    },
    stop: async () => void (await Promise.all([adapter.close(), second.close()])),
  };
}
