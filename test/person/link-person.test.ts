import { describe, expect, test } from 'vitest';
import { type Creating, NAMESAKE, type PersonEvent } from '../../src/person/person.ts';
import { ada, after, change, employed, hireOf, inHr, OPEN, person } from './people.ts';

const own = hireOf('5012');
const second = hireOf('6000');
const bob = { company: '17', candidateId: '99' };

const link = (id: string, more: Partial<Extract<PersonEvent, { kind: 'link' }>> = {}) => {
  const is = { employee: inHr(id), number: null };
  return { kind: 'link', hire: own, candidate: ada, is, how: 'made', shownAfterMs: 5, ...more } as const;
};

describe('a person is this employee', () => {
  test('by the hire that made them, which has them from then on', () => {
    const changed = change(person({ owner: own }), link('7', { is: { employee: inHr('7'), number: 'E7' } }));
    expect(changed).toMatchObject({
      people: { subject: { employees: [{ employee: inHr('7'), number: 'E7', hire: own, how: 'made', since: 100 }] } },
      has: { employee: inHr('7'), number: 'E7' },
    });
  });

  test('once: told again, only a number is added', () => {
    const known = person({ employees: [employed('7', own, { number: 'E7' })] });
    expect(after(known, link('7'))).toEqual(known);
    expect(after(known, link('7', { is: { employee: inHr('7'), number: 'E8' } })).employees[0]?.number).toBe('E8');
  });

  test('and another employment of theirs stands before it', () => {
    const known = person({ employees: [employed('7', second)] });
    expect(after(known, link('8')).employees.map((one) => one.employee.id)).toEqual(['8', '7']);
  });

  test.each([
    ['that is open and has none', OPEN, own],
    ['that has them already', { ...OPEN, isOpen: false, isDone: true, employee: inHr('7') }, own],
    ['that is over', { ...OPEN, isOpen: false }, second],
    ['that has another one', { ...OPEN, employee: inHr('9') }, second],
  ])('a hire %s takes them over, or does not', (_what, hire, has) => {
    expect(after(person({ employees: [employed('7', second)] }), link('7'), { hire }).employees[0]?.hire).toEqual(has);
  });

  test('of a hire that is over the employee is known all the same', () => {
    const changed = change(person(), link('7'), { hire: { ...OPEN, isOpen: false } });
    expect(changed).toMatchObject({ people: { subject: { employees: [{ hire: own }] } } });
    expect(changed).not.toHaveProperty('has');
  });

  test('not by a hire that was erased meanwhile, which takes no key either', () => {
    const over = { refusal: { reason: 'over' } };
    const keys = { kind: 'create', hire: own, keys: ['mail'], holder: 'h', forMs: 50 } as const;
    for (const event of [link('7'), keys]) expect(change(person(), event, { hire: undefined })).toMatchObject(over);
    expect(after(person(), link('7', { how: 'imported' }), { hire: undefined }).employees).toHaveLength(1);
  });

  test('not where they are another person', () => {
    const other = person({ employees: [employed('7', second, { candidate: bob })] }, bob);
    const changed = change(person(), link('7'), { others: [other] });
    expect(changed).toMatchObject({ refusal: { reason: 'of-another', other: { hire: second, candidate: bob } } });
  });

  test('or somebody said that both are one human: nothing of the other is left', () => {
    const known = { owner: second, recorded: { ...second, how: 'baseline' as const } };
    const other = person({ ...known, employees: [employed('7', second, { candidate: bob })] }, bob);
    const changed = change(person({ owner: own }), link('7', { samePerson: true }), { others: [other] });
    expect(changed).toMatchObject({
      people: {
        subject: {
          candidates: [bob, ada],
          owner: own,
          recorded: known.recorded,
          employees: [{ hire: own, candidate: ada }],
        },
        others: [{ id: other.id, candidates: [], owner: undefined, recorded: undefined, employees: [] }],
      },
    });
  });

  test('an import takes nobody from a hire that is under way', () => {
    expect(change(person({ owner: second }), link('7', { how: 'imported' }))).toMatchObject({
      refusal: { reason: 'being-hired', other: second },
    });
  });
});

describe('the employee is another record by now', () => {
  const replace = link('8', { insteadOf: inHr('7'), is: { employee: inHr('8'), number: 'E8' } });
  const has = { ...OPEN, employee: inHr('7') };

  test('the hire has the new one, and the old one is nobody’s', () => {
    const changed = change(person({ employees: [employed('7', own)] }), replace, { hire: has });
    expect(changed).toMatchObject({
      people: { subject: { employees: [{ employee: inHr('8') }] } },
      has: { number: 'E8' },
    });
    expect(changed.kind === 'changed' && changed.people.subject.employees).toHaveLength(1);
  });

  test('what another hire has stays', () => {
    const known = person({ employees: [employed('7', second)] });
    expect(after(known, replace, { hire: has }).employees).toHaveLength(2);
  });
});

describe('the hire that has an employee is over', () => {
  const leave = { kind: 'leave', hire: own, employee: inHr('7'), heir: { ...second, candidateId: null } } as const;
  const known = person({ owner: own, employees: [employed('7', own, { since: 5 })] });

  test('they go back to the hire that has them still, linked no later than before', () => {
    expect(after(known, leave)).toMatchObject({ owner: second, employees: [{ hire: second, since: 5 }] });
  });

  test('they are the candidate of that hire again', () => {
    const both = [...known.candidates, { company: '17', candidateId: '99' }];
    const event = { ...leave, heir: { ...second, candidateId: '99' } };
    const { employees } = after({ ...known, candidates: both }, event);
    expect(employees).toMatchObject([{ hire: second, candidate: { candidateId: '99' } }]);
  });

  test('with nobody to go back to they stay', () => {
    expect(after(known, { ...leave, heir: undefined })).toEqual(known);
  });

  test('by a hire that no longer has them nothing moves', () => {
    const moved = person({ owner: second, employees: [employed('7', second)] });
    expect(after(moved, { ...leave, heir: { ...hireOf('7000'), candidateId: null } })).toEqual(moved);
  });
});

describe('while somebody is made', () => {
  const create = (keys: string[], hire = own) => ({ kind: 'create', hire, keys, holder: 'h2', forMs: 50 }) as const;
  const making = (key: string, hire = second, until = 120): Creating => ({ key, hire, holder: 'h1', until });

  test('nobody else of one of the keys is; all of them are taken, or none', () => {
    const other = person({ creating: [making('mail')] }, bob);
    expect(change(person(), create(['name', 'mail']), { others: [other] })).toMatchObject({
      refusal: { reason: 'creating', other: second, isPending: false, waitMs: 20 },
    });
  });

  test('nor a second employee of the same person by another hire', () => {
    const twice = person({ creating: [making('mail')] });
    expect(change(twice, create(['mail']))).toMatchObject({ refusal: { reason: 'creating', other: second } });
  });

  test('what is over is taken from whoever had it', () => {
    const other = person({ creating: [making('mail', second, 99), making('name', second, 99)] }, bob);
    expect(change(person(), create(['mail']), { others: [other] })).toMatchObject({
      people: { subject: { creating: [{ key: 'mail', until: 150 }] }, others: [{ creating: [{ key: 'name' }] }] },
    });
  });

  test.each([
    ['open', true],
    ['done', true],
  ] as const)('an unsettled create keeps its keys whatever the time (%s)', (outcome, isPending) => {
    const other = person({ creating: [making('mail', second, 1)] }, bob);
    const unsettled = () => outcome;
    expect(change(person(), create(['mail']), { others: [other], unsettled })).toMatchObject({
      refusal: { isPending, waitMs: 0 },
    });
    expect(after(other, { kind: 'lapse' }, { unsettled })).toEqual(other);
    expect(after(other, { kind: 'lapse' }).creating).toEqual([]);
  });

  test('a name alone keeps others out for a while only, whatever becomes of the create', () => {
    const unsettled = () => 'done' as const;
    const others = (until: number) => [person({ creating: [making(`${NAMESAKE}ada`, second, until)] }, bob)];
    const ask = (until: number) => change(person(), create([`${NAMESAKE}ada`]), { others: others(until), unsettled });
    expect(ask(120)).toMatchObject({ refusal: { reason: 'creating', isPending: false, waitMs: 20 } });
    expect(ask(100)).toMatchObject({ kind: 'changed' });
  });

  test('an attempt that stood still does not end what a later one has', () => {
    const known = person({ creating: [{ ...making('mail', own), holder: 'later' }] });
    expect(after(known, { kind: 'settle', hire: own, holder: 'earlier' })).toEqual(known);
    expect(after(known, { kind: 'settle', hire: own }).creating[0]?.until).toBe(100);
  });

  test('who was made is shown after a while, and others of the keys wait for that', () => {
    expect(after(person({ creating: [making('mail', own)] }), link('7')).creating[0]?.until).toBe(105);
  });
});

describe('a tenant names its company', () => {
  const unnamed = { company: 'acme', candidateId: '88' };
  const event = { kind: 'name-company', candidate: unnamed, company: '17' } as const;

  test('its people are of that, and so are their employees', () => {
    const known = person({ owner: own, employees: [employed('7', own, { candidate: unnamed })] }, unnamed);
    expect(after(known, event)).toMatchObject({ candidates: [ada], owner: own, employees: [{ candidate: ada }] });
  });

  test('whom another tenant owns under that name stays that tenant’s, with the employees of both', () => {
    const known = { ...person({ owner: own, employees: [employed('7', own)] }, unnamed), id: 'unnamed' };
    const owned = person({ owner: hireOf('9', 'beta') });
    const changed = change(known, event, { others: [owned] });
    expect(changed).toMatchObject({
      people: { subject: { id: owned.id, owner: hireOf('9', 'beta'), candidates: [ada], employees: [{ hire: own }] } },
    });
  });
});
