import { describe, expect, test } from 'vitest';
import type { Decisions } from '../../src/hire/answers.ts';
import { type Finding, judgeCreate } from '../../src/plan/identity-ladder.ts';
import { everyCombination, idsIn, inHr, many, none, one, unproven } from './findings.ts';
import { ada, inWords, linkedTo, planIn, type World } from './plan-of-hire.ts';

describe('a former worker who is hired again', () => {
  const rehired: World = { before: inHr('3'), findings: [none('reference')], employees: ['3', '7'] };
  const again: Partial<Decisions> = { person: 'new-employment' };

  test.each<[string, World, Partial<Decisions>, string]>([
    ['takes up the old record', rehired, { person: 'same-employee' }, 'link 3'],
    ['moves to the new job on it', rehired, { person: 'transfer' }, 'update 3'],
    ['gets a second record', rehired, again, 'create'],
    [
      'gets a second record beside one of the same e-mail and name',
      { ...rehired, findings: [one('number', '3'), one('email', '3')] },
      again,
      'create',
    ],
    [
      'gets a second record that is there already',
      { ...rehired, findings: [one('reference', '7'), one('email', '3')] },
      again,
      'link 7',
    ],
    [
      'and whose name fits a third record',
      { ...rehired, findings: [many('person', '3', '7')] },
      again,
      'IDENTITY_AMBIGUOUS',
    ],
    [
      'gets the old record by hand after all',
      { ...rehired, links: [linkedTo('3', 'ada')] },
      { ...again, link: '3' },
      'link 3',
    ],
    ['gets a record named by hand', rehired, { ...again, link: '7' }, 'link 7'],
    [
      'is not the record of another person',
      { ...rehired, links: [linkedTo('7', 'somebody')] },
      { ...again, link: '7' },
      'EMPLOYEE_OF_ANOTHER',
    ],
    [
      'gets a record named by hand once the old one is not theirs any more',
      rehired,
      { person: 'same-employee', link: '7' },
      'link 7',
    ],
    ['a record that an earlier try of this hire made', { ...rehired, own: inHr('9') }, again, 'link 9'],
    [
      'whose mapping lacks a field',
      { ...rehired, problems: [{ field: 'a', code: 'b', text: 'c' }] },
      { person: 'transfer' },
      'MAPPING_INCOMPLETE',
    ],
    [
      'an answer from when nobody was hired before',
      { ...rehired, before: undefined },
      { person: 'transfer' },
      'create',
    ],
    [
      'nothing provable beside the old record',
      { ...rehired, findings: [unproven('reference'), unproven('email')] },
      again,
      'IDENTITY_AMBIGUOUS',
    ],
  ])('%s', (_what, world, decisions, expected) => {
    expect(inWords(planIn(world, decisions))).toBe(expected);
  });

  test('a transfer writes what is of the job alone, and a rehire empties what the job does not have', () => {
    const ofJob = { title: 'Engineer', department: null };
    expect(planIn({ ...rehired, ofJob }, { person: 'transfer' })).toMatchObject({ kind: 'update', fields: ofJob });
    const former = { ...rehired, ofJob, former: '3', canRehire: true };
    const fields = { ...ada.fields, department: null };
    expect(planIn(former, { person: 'transfer' })).toMatchObject({ kind: 'rehire', fields });
  });
});

describe('a create whose answer was lost, by what e-mail and name show', () => {
  const lost = { attempt: 1, outcome: 'open' } as const;
  const undecided: Decisions = { notThese: new Set(), neverHappened: new Set() };

  test.each<[string, Finding[], string, string]>([
    ['neither is there', [none('email'), none('person')], 'create', 'absent'],
    ['no e-mail, and the name proves nothing', [none('email'), unproven('person')], 'create', 'unprovable'],
    ['no name, and the e-mail proves nothing', [unproven('email'), none('person')], 'create', 'unprovable'],
    ['neither proves anything', [unproven('email'), unproven('person')], 'create', 'unprovable'],
    [
      'the e-mail is there, the name is not: corrected since?',
      [one('email', 'A'), none('person')],
      'create',
      'unprovable A',
    ],
    ['the name is there, the e-mail is not', [none('email'), one('person', 'A')], 'create', 'unprovable A'],
    ['both, of one record', [one('email', 'A'), one('person', 'A')], 'link A', 'found A'],
    ['both, of two records', [one('email', 'A'), one('person', 'B')], 'create', 'unprovable A,B'],
    ['two of the e-mail, one of the name', [many('email', 'A', 'B'), one('person', 'A')], 'create', 'unprovable A,B'],
    ['one of the e-mail, two of the name', [one('email', 'A'), many('person', 'A', 'B')], 'create', 'unprovable A,B'],
  ])('%s', (_what, findings, planned, settled) => {
    expect(inWords(planIn({ findings, unsettledCreate: true }))).toBe(planned);
    const seen = judgeCreate(findings, lost, undecided);
    const shown = seen.kind === 'unprovable' ? seen.hits : seen.kind === 'found' ? [seen.employee.id] : [];
    expect(`${seen.kind} ${shown.join()}`.trim()).toBe(settled);
  });

  test('whatever the keys show, the plan and the settling of the create name the same employee', () => {
    const apart = everyCombination().filter((findings) => {
      const planned = inWords(planIn({ findings, unsettledCreate: true }));
      const seen = judgeCreate(findings, lost, undecided);
      return planned !== (seen.kind === 'found' ? `link ${seen.employee.id}` : 'create');
    });
    expect(apart).toEqual([]);
  });
});

describe('whatever the keys show', () => {
  const all = everyCombination();

  test('an employee is made unasked only where no record was found', () => {
    const made = all.filter((findings) => inWords(planIn({ findings })) === 'create');
    expect(made.filter((findings) => idsIn(findings).length > 0)).toEqual([]);
    expect(made).not.toEqual([]);
  });

  test('an employee who was denied is never linked', () => {
    const planned = all.map((findings) => inWords(planIn({ findings }, { notThese: new Set(['A']) })));
    expect(planned.filter((word) => word === 'link A')).toEqual([]);
    expect(planned).toContain('link B');
  });

  test('an employee of another person is never linked', () => {
    const links = [linkedTo('A', 'somebody')];
    const planned = all.map((findings) => inWords(planIn({ findings, links })));
    expect(planned.filter((word) => word === 'link A')).toEqual([]);
    expect(planned).toEqual(expect.arrayContaining(['link B', 'EMPLOYEE_OF_ANOTHER']));
  });

  test('a question about a record shows every record that any key found', () => {
    const unshown = all.filter((findings) => {
      const planned = planIn({ findings });
      if (!('verdict' in planned)) return false;
      return String(planned.hold.details?.['employeeIds']) !== String(idsIn(findings));
    });
    expect(unshown).toEqual([]);
  });
});
