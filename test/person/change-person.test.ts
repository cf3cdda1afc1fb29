import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSameHire } from '../../src/hire/hire.ts';
import {
  type Candidate,
  changePerson,
  type Facts,
  type HireFacts,
  isSameCandidate,
  isUnknown,
  type Person,
  type PersonEvent,
} from '../../src/person/person.ts';
import { hireOf, inHr, OPEN, person } from './people.ts';

const hires = [hireOf('1'), hireOf('2'), hireOf('3', 'globex'), hireOf('', 'acme', 0)];
const candidates: Candidate[] = ['81', '82', '83'].map((candidateId) => ({ company: '17', candidateId }));
const employees = ['7', '8'].map(inHr);

const hire = fc.constantFrom(...hires.slice(0, 3));
const candidate = fc.constantFrom(...candidates);
const employee = fc.constantFrom(...employees);
const decided = fc.record(
  {
    person: fc.constantFrom('same-employee', 'transfer', 'new-employment'),
    link: fc.constant('7'),
    hereToo: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** One event of somebody, with what else is true at that moment. */
interface Told {
  about: Candidate;
  event: PersonEvent;
  facts: Facts;
}

const event: fc.Arbitrary<PersonEvent> = fc.oneof(
  fc.record({ kind: fc.constant('record'), as: hire.map((one) => ({ ...one, how: 'baseline' as const })) }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('hold'),
      hire,
      decided,
      isUnderWay: fc.boolean(),
      company: fc.constantFrom(undefined, '* production here'),
    }),
  },
  fc.record({ kind: fc.constant('release'), hire }),
  fc.record({ kind: fc.constant('abandon'), hire }),
  fc.record({ kind: fc.constant('take-back'), tenantId: fc.constantFrom('acme', 'globex') }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('create'),
      hire,
      keys: fc.subarray(['mail', 'name'], { minLength: 1 }),
      holder: fc.constantFrom('a', 'b'),
      forMs: fc.constantFrom(0, 50),
    }),
  },
  fc.record({ kind: fc.constant('settle'), hire }),
  fc.record({ kind: fc.constant('lapse') }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('link'),
      hire,
      candidate,
      is: fc.record({ employee, number: fc.constantFrom(null, 'N') }),
      how: fc.constantFrom('made', 'linked', 'imported'),
      shownAfterMs: fc.constant(5),
      samePerson: fc.boolean(),
      insteadOf: fc.option(employee, { nil: undefined, freq: 6 }),
    }),
  },
  fc.record({ kind: fc.constant('leave'), hire, employee, heir: fc.option(hire, { nil: undefined }) }),
) as fc.Arbitrary<PersonEvent>;

const row: fc.Arbitrary<HireFacts | undefined> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(OPEN) },
  fc.record({
    isOpen: fc.boolean(),
    isDone: fc.boolean(),
    isServed: fc.boolean(),
    employee: fc.option(employee, { nil: undefined }),
  }),
);

const told: fc.Arbitrary<Told> = fc.record({
  about: candidate,
  event,
  facts: fc.record({
    now: fc.integer({ min: 0, max: 200 }),
    hire: row,
    ownerWaits: fc.boolean(),
    elsewhere: fc.constantFrom(undefined, 'ours', hireOf('9', 'globex')),
    unsettled: fc.constantFrom(
      () => undefined,
      () => 'open' as const,
    ),
  }),
}) as fc.Arbitrary<Told>;

/** What one of them who is told leads to among all people, as the store does it. */
function tell(people: readonly Person[], { about, event: next, facts }: Told) {
  const meant = 'candidate' in next && next.kind !== 'name-company' ? next.candidate : about;
  const named = (one: Person): boolean => one.candidates.some((known) => isSameCandidate(known, meant));
  const subject = people.find(named) ?? person({}, meant);
  const others = people.filter((one) => one.id !== subject.id);
  const changed = changePerson({ subject, others }, next, facts);
  if (changed.kind === 'refused') return { people, changed, subject };
  const after = [changed.people.subject, ...changed.people.others].filter((one) => !isUnknown(one));
  return { people: after, changed, subject };
}

const runs = { numRuns: 400, seed: 30 };

test('an employee is one person, whatever is told in whatever order', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 40, size: 'max' }), (story) => {
      let people: readonly Person[] = [];
      for (const one of story) people = tell(people, one).people;
      const ids = people.flatMap(({ employees: known }) => known.map((one) => one.employee.id));
      expect(new Set(ids).size).toBe(ids.length);
      const names = people.flatMap((one) => one.candidates.map(({ candidateId }) => candidateId));
      expect(new Set(names).size).toBe(names.length);
    }),
    runs,
  );
});

test('what was told changes nothing when it is told again', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 40, size: 'max' }), (story) => {
      let people: readonly Person[] = [];
      for (const one of story) {
        people = tell(people, one).people;
        expect(tell(people, one).people).toEqual(people);
      }
    }),
    runs,
  );
});

test('a person goes from one hire to another only by a word about an employee, a departure, or as one human', () => {
  let moved = 0;
  fc.assert(
    fc.property(fc.array(told, { maxLength: 40, size: 'max' }), (story) => {
      let people: readonly Person[] = [];
      for (const one of story) {
        const { people: next, changed, subject } = tell(people, one);
        people = next;
        if (changed.kind === 'refused' || subject.owner === undefined || subject.isAbandoned) continue;
        const { owner } = changed.people.subject;
        if (owner === undefined || isSameHire(owner, subject.owner)) continue;
        moved += 1;
        const { event: by, facts } = one;
        expect(['hold', 'leave']).toContain(by.kind);
        if (by.kind !== 'hold') continue;
        expect([by.decided.person, facts.ownerWaits]).toEqual([expect.any(String), false]);
        expect(subject.employees.length).toBeGreaterThan(0);
      }
    }),
    runs,
  );
  expect(moved).toBeGreaterThan(20);
});

test('that somebody was hired without hirebridge is never forgotten', () => {
  fc.assert(
    fc.property(fc.array(told, { maxLength: 40, size: 'max' }), (story) => {
      let people: readonly Person[] = [];
      for (const one of story) {
        const before = people.filter(({ recorded }) => recorded?.how === 'baseline');
        people = tell(people, one).people;
        const known = people.filter(({ recorded }) => recorded?.how === 'baseline').flatMap((is) => is.candidates);
        for (const was of before)
          for (const name of was.candidates) expect(known.some((is) => isSameCandidate(is, name))).toBe(true);
      }
    }),
    runs,
  );
});

test('nobody is made while somebody else of the same key is', () => {
  let refused = 0;
  fc.assert(
    fc.property(fc.array(told, { maxLength: 40, size: 'max' }), (story) => {
      let people: readonly Person[] = [];
      for (const one of story) {
        const inForce = people
          .flatMap(({ creating }) => creating)
          .filter(({ until, hire: by }) => until > one.facts.now || one.facts.unsettled(by) !== undefined);
        const { people: next, changed, subject } = tell(people, one);
        people = next;
        if (one.event.kind !== 'create') continue;
        const { keys, hire: by } = one.event;
        const isTaken = inForce.some(({ key, hire: of }) => keys.includes(key) && !isSameHire(of, by));
        const isOfOther = subject.owner !== undefined && !isSameHire(subject.owner, by);
        expect(changed.kind).toBe(isTaken || isOfOther ? 'refused' : 'changed');
        if (isTaken) refused += 1;
        const taken = people.flatMap(({ creating }) => creating.map(({ key }) => key));
        expect(new Set(taken).size).toBe(taken.length);
      }
    }),
    runs,
  );
  expect(refused).toBeGreaterThan(50);
});
