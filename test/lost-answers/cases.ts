import type { WorldOptions } from '../harness/world.ts';

export type Verb = 'enrol' | 'create employee' | 'external-status' | 'custom field';
export type Timing = 'before execution' | 'executed, answer lost' | 'executed late';

/** One call whose answer never comes. */
export interface LostAnswer {
  verb: Verb;
  timing: Timing;
  /** Executed late: by how much. */
  ms?: number;
  /** Executed late: only so many bytes at the end are; in Postgres' extended protocol they are what commits. */
  lastBytes?: number;
  /** While the hold waits somebody enters the employee by hand, and `create` is answered all the same. */
  byHand?: boolean;
}

/** What an HRIS is like. */
export interface Profile {
  name: string;
  hris: NonNullable<WorldOptions['hris']>;
  /** The tenant's own mapping file, beside the default. */
  mapping?: string;
  /** Times that a person must be asked. */
  holds: (one: LostAnswer) => number;
}

/** No reference, no unique key, reads two seconds behind. */
const careless: Profile['hris'] = { referenceColumn: 'none', readFrom: 'employees_directory', readLag: '2s' };

const isCreate = ({ verb }: LostAnswer): boolean => verb === 'create employee';

export const profiles: Profile[] = [
  { name: 'strict', hris: {}, holds: () => 0 },
  { name: 'careless', hris: careless, holds: (one) => (isCreate(one) ? (one.byHand === true ? 2 : 1) : 0) },
  {
    // Name and birth date beside the e-mail are evidence enough: nobody needs to be asked.
    name: 'careless, birth dates',
    hris: careless,
    mapping: 'fields:\n  birthDate: { from: candidate.dateOfBirth, transform: [date] }\n',
    holds: () => 0,
  },
];

const partnerVerbs: Verb[] = ['enrol', 'external-status', 'custom field'];

/** `ms` is the long delay: past the time after which an attempt is concluded to have failed. */
export function casesOf(profile: Profile, ms: number): LostAnswer[] {
  const asks = profile.holds({ verb: 'create employee', timing: 'before execution' }) > 0;
  const create = { verb: 'create employee' } as const;
  return [
    // The client gives up after one second, see short-waits; a late enrolment may also be found before the next
    // attempt.
    { verb: 'enrol', timing: 'executed late', ms: 1_500 },
    ...partnerVerbs.flatMap((verb): LostAnswer[] => [
      { verb, timing: 'before execution' },
      { verb, timing: 'executed, answer lost' },
      { verb, timing: 'executed late', ms },
    ]),
    { ...create, timing: 'before execution' },
    { ...create, timing: 'executed, answer lost' },
    { ...create, timing: 'executed late', ms },
    { ...create, timing: 'executed late', ms, lastBytes: 5 },
    ...(asks ? [{ ...create, timing: 'before execution', byHand: true } as const] : []),
  ];
}

export function describe({ verb, timing, ms, lastBytes, byHand }: LostAnswer): string {
  const late = ms === undefined ? '' : ` by ${ms / 1000} s`;
  const part = lastBytes === undefined ? '' : `, its last ${lastBytes} bytes alone`;
  return `${verb}: ${timing}${late}${part}${byHand === true ? ', entered by hand meanwhile' : ''}`;
}
