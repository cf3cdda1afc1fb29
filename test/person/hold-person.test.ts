import { describe, expect, test } from 'vitest';
import { type HireRef, isSameHire } from '../../src/hire/hire.ts';
import type { HoldDecisions, Person } from '../../src/person/person.ts';
import { ada, after, change, employed, hireOf, inHr, OPEN, person } from './people.ts';

const own = hireOf('5012', 'acme', 2);
const earlier = hireOf('5012');
const second = hireOf('6000');
const third = hireOf('7000');
const neighbour = hireOf('9000', 'globex');

function hold(known: Partial<Person>, decided: HoldDecisions = {}, facts: Parameters<typeof change>[2] = {}) {
  const event = { kind: 'hold', hire: own, decided, isUnderWay: false, company: undefined } as const;
  return change(person(known), event, facts);
}

const refusedAs = (reason: string, other?: HireRef) => ({ refusal: { reason, ...(other && { other }) } });
const TAKEN = { people: { subject: { owner: own } } };

describe('a hire asks for its person', () => {
  test.each<[string, Partial<Person>, HoldDecisions, object]>([
    ['whom nobody knows: theirs', {}, {}, TAKEN],
    ['whom it owns already', { owner: own }, {}, TAKEN],
    ['an old decision where nobody was hired after all', { owner: own }, { person: 'transfer' }, TAKEN],
    ['whom another hire owns that has no employee', { owner: second }, {}, refusedAs('hired-before', second)],
    ['an answer while that one has none', { owner: second }, { person: 'transfer' }, refusedAs('being-hired', second)],
    [
      'who is an employee',
      { owner: second, employees: [employed('7', second)] },
      {},
      refusedAs('hired-before', second),
    ],
    ['who is one, answered', { owner: second, employees: [employed('7', second)] }, { person: 'same-employee' }, TAKEN],
    [
      'who was hired in the period before',
      { owner: earlier, employees: [employed('7', earlier)] },
      {},
      refusedAs('hired-before', earlier),
    ],
    [
      'whom it owns, and another hire employs',
      { owner: own, employees: [employed('7', third)] },
      {},
      refusedAs('hired-before', third),
    ],
    [
      'owned, employed by another, answered',
      { owner: own, employees: [employed('7', third)] },
      { person: 'new-employment' },
      TAKEN,
    ],
    [
      'answered before a third hire took the employee over',
      { owner: third, employees: [employed('7', third, { since: 9 })] },
      { person: 'new-employment', personAt: 8 },
      refusedAs('hired-before', third),
    ],
    [
      'answered after a third hire took the employee over',
      { owner: third, employees: [employed('7', third, { since: 9 })] },
      { person: 'new-employment', personAt: 9 },
      TAKEN,
    ],
    [
      'answered after, but of the hire that had an employee before',
      { owner: third, employees: [employed('8', third, { since: 5 }), employed('7', second)] },
      { person: 'transfer', personAt: 9, askedAbout: second },
      refusedAs('hired-before', third),
    ],
    [
      'answered of a record, before a merge brought an older employee',
      { owner: own, employees: [employed('7', second)] },
      { person: 'new-employment', personAt: 9, askedAbout: earlier },
      refusedAs('hired-before', second),
    ],
    [
      'whom an import linked',
      { employees: [employed('7', hireOf('', 'acme', 0))] },
      {},
      refusedAs('hired-before', hireOf('', 'acme', 0)),
    ],
    [
      'whom the neighbour hired',
      { owner: neighbour, employees: [employed('7', neighbour)] },
      {},
      refusedAs('hired-before', neighbour),
    ],
    [
      'who has the employee is named before who owns the person',
      { owner: third, employees: [employed('7', second)] },
      {},
      refusedAs('hired-before', second),
    ],
    [
      'to name an employee does not say what the hire is to them',
      { owner: second, employees: [employed('7', second)] },
      { link: '7' },
      refusedAs('hired-before', second),
    ],
  ])('%s', (_what, known, decided, expected) => {
    expect(hold(known, decided)).toMatchObject(expected);
  });

  test('a hire with an employee of its own asks nobody what became of the others', () => {
    const known = { owner: own, employees: [employed('8', third, { since: 9 }), employed('7', own)] };
    const decided = { person: 'new-employment', personAt: 8 } as const;
    expect(hold(known, decided, { hire: { ...OPEN, employee: inHr('7') } })).toMatchObject(TAKEN);
    expect(hold(known, decided)).toMatchObject(refusedAs('hired-before', third));
  });

  test.each(['same-employee', 'transfer', 'new-employment'] as const)(
    'a third hire that is on its way to an employee is waited for, whatever was said of the first (%s)',
    (said) => {
      const known = { owner: third, employees: [employed('7', second)] };
      expect(hold(known, { person: said }, { ownerWaits: true })).toMatchObject(refusedAs('being-hired', third));
    },
  );

  test.each([
    ['is over', { ...OPEN, isOpen: false }],
    ['is of a removed tenant', { ...OPEN, isServed: false }],
    ['has no row', undefined],
  ])('one that %s takes nobody: nothing would release them', (_what, hire) => {
    expect(hold({}, {}, { hire })).toEqual({ kind: 'refused', refusal: { reason: 'over' } });
  });
});

describe('somebody who was hired without hirebridge', () => {
  const asked = (known: Partial<Person>, decided: HoldDecisions = {}) => hold(known, decided);
  const by = (hire: HireRef, how: 'baseline' | 'passed-over' | 'removed' = 'baseline') => ({
    recorded: { ...hire, how },
  });

  test.each<[string, Partial<Person>, HoldDecisions, object]>([
    ['on another job', by(second), {}, refusedAs('recorded', second)],
    ['in the period before', by(earlier), {}, refusedAs('recorded', earlier)],
    ['and is owned by us since', { ...by(second), owner: own }, {}, refusedAs('recorded', second)],
    ['told that it is a new employment', by(second), { person: 'new-employment' }, TAKEN],
    ['told who the employee is', by(second), { link: '7' }, TAKEN],
    ['a person’s word started that hire', by(own), {}, TAKEN],
    ['passed over by the neighbour, this application', by({ ...own, tenantId: 'globex' }, 'passed-over'), {}, TAKEN],
    [
      'in the period before, recorded by the neighbour as well',
      by({ ...own, tenantId: 'globex', period: 1 }),
      {},
      refusedAs('recorded'),
    ],
    ['recorded as this very hire by a neighbour that went live later', by({ ...own, tenantId: 'globex' }), {}, TAKEN],
    [
      'whom a removed neighbour may have made',
      by({ ...own, tenantId: 'globex' }, 'removed'),
      {},
      refusedAs('recorded'),
    ],
    ['whose owner’s tenant was removed', { owner: neighbour, isAbandoned: true }, {}, refusedAs('recorded', neighbour)],
    [
      'who is an employee as well: that is asked',
      { ...by(second), employees: [employed('7', third)] },
      {},
      refusedAs('hired-before', third),
    ],
  ])('%s', (_what, known, decided, expected) => {
    expect(asked(known, decided)).toMatchObject(expected);
  });

  test('is not asked about once a create has left: whether there is to be an employee was answered', () => {
    const event = { kind: 'hold', hire: own, decided: {}, isUnderWay: true, company: undefined } as const;
    expect(after(person(by(second)), event)).toMatchObject({ owner: own });
  });

  test('stays known as that while a hire owns them, and after it', () => {
    const taken = after(person(by(second)), {
      kind: 'hold',
      hire: own,
      decided: { link: '7' },
      isUnderWay: false,
      company: undefined,
    });
    expect(taken).toMatchObject({ owner: own, ...by(second) });
    expect(after(taken, { kind: 'release', hire: own })).toMatchObject({ owner: undefined, ...by(second) });
  });

  test('is recorded once: the first record stays', () => {
    const recorded = after(person(by(second)), { kind: 'record', as: { ...third, how: 'observed' } });
    expect(recorded).toMatchObject(by(second));
  });

  test.each(['passed-over', 'removed'] as const)(
    'is asked about although a neighbour’s record (%s) was first',
    (how) => {
      const before = { ...by(earlier).recorded };
      const known = after(person(by({ ...earlier, tenantId: 'globex' }, how)), { kind: 'record', as: before });
      expect(asked(known)).toMatchObject(refusedAs('recorded', earlier));
      expect(after(known, { kind: 'take-back', tenantId: 'globex' })).toMatchObject({ recorded: before });
    },
  );
});

describe('the owner’s tenant is removed', () => {
  const left = after(person({ owner: neighbour }), { kind: 'abandon', hire: neighbour });

  test('another hire that takes the person keeps what is not known of the create', () => {
    const event = {
      kind: 'hold',
      hire: own,
      decided: { person: 'new-employment' },
      isUnderWay: false,
      company: undefined,
    } as const;
    const taken = after(left, event);
    expect(taken).toMatchObject({ owner: own, isAbandoned: false, recorded: { ...neighbour, how: 'removed' } });
    const back = after(after(taken, { kind: 'release', hire: own }), { kind: 'take-back', tenantId: 'globex' });
    expect(back).toMatchObject({ owner: neighbour, recorded: undefined });
  });

  test('the tenant is back: its hire goes on, and what was recorded before is still known', () => {
    const known = { ...left, recorded: { ...second, how: 'baseline' as const } };
    expect(after(known, { kind: 'take-back', tenantId: 'globex' })).toMatchObject({
      owner: neighbour,
      isAbandoned: false,
      recorded: { how: 'baseline' },
    });
  });
});

describe('in all HR systems of a company', () => {
  const HERE = { scope: '* production here', candidate: ada };
  const asks = (known: Partial<Person>, decided: HoldDecisions, elsewhere?: HireRef | 'ours', isUnderWay = false) => {
    const event = { kind: 'hold', hire: own, decided, isUnderWay, company: '* production here' } as const;
    return change(person(known), event, { elsewhere });
  };

  test.each<[string, Partial<Person>, HoldDecisions, HireRef | 'ours' | undefined, object]>([
    ['the first tenant hires', {}, {}, undefined, { people: { subject: { owner: own, companies: [HERE] } } }],
    ['another one hires them elsewhere', {}, {}, neighbour, refusedAs('elsewhere', neighbour)],
    [
      'and somebody wants them here, too',
      {},
      { hereToo: true },
      neighbour,
      { people: { subject: { owner: own, companies: [] } } },
    ],
    [
      'this tenant itself had another HR system',
      {},
      {},
      'ours',
      { people: { subject: { owner: own, companies: [] } } },
    ],
    [
      'they are hired here, and became an employee elsewhere unasked',
      { owner: own },
      {},
      neighbour,
      refusedAs('elsewhere', neighbour),
    ],
    ['and somebody wants both', { owner: own }, { hereToo: true }, neighbour, TAKEN],
    [
      'they are an employee here already',
      { employees: [employed('7', second)] },
      {},
      neighbour,
      refusedAs('hired-before', second),
    ],
    [
      'they were recorded here, and are hired elsewhere',
      { recorded: { ...second, how: 'baseline' } },
      {},
      neighbour,
      refusedAs('elsewhere', neighbour),
    ],
  ])('%s', (_what, known, decided, elsewhere, expected) => {
    expect(asks(known, decided, elsewhere)).toMatchObject(expected);
  });

  test('of a create that has left nobody is asked where else they are', () => {
    expect(asks({ owner: own }, {}, neighbour, true)).toMatchObject(TAKEN);
  });

  test('a hire that ends gives that up with the person', () => {
    const owned = person({ owner: own, companies: [HERE] });
    expect(after(owned, { kind: 'release', hire: own })).toMatchObject({ owner: undefined, companies: [] });
    expect(after(owned, { kind: 'release', hire: second })).toEqual(owned);
  });
});

test.each<[string, HireRef, boolean]>([
  ['itself', { ...own }, true],
  ['another period', earlier, false],
  ['another application', { ...second, period: 2 }, false],
  ['the same numbers at another tenant', { ...own, tenantId: 'globex' }, false],
])('a hire and %s', (_what, other, expected) => {
  expect([isSameHire(own, other), isSameHire(other, own)]).toEqual([expected, expected]);
});
